/// The durable tasks of a tree's reactors: planned actions and durable effects.
///
/// *Cost*: finding, adding and removing a task are O(1).
struct TaskTable: Sendable {
    /// The current tasks, by node and name.
    private var all: [UInt32: [String: TaskFact]] = [:]
    private(set) var count = 0
    /// The highest id so far.
    private(set) var lastID: UInt64 = 0

    mutating func newID() -> UInt64 {
        lastID += 1
        return lastID
    }

    /// Records that ids up to this one are in use.
    mutating func skip(to id: UInt64) { lastID = max(lastID, id) }

    // Tasks of the lost end of a history were sent to external systems under ids unknown here.
    /// Moves the ids of later tasks away from those of a history that has lost its end, and that
    /// the history of `epoch` replaces.
    mutating func begin(epoch: UInt64) {
        lastID = ((lastID >> 32) &+ 1 &+ (epoch >> 40)) << 32
    }

    /// The names of a node's tasks.
    func names(of node: UInt32) -> [String] { all[node].map { Array($0.keys) } ?? [] }

    /// The task of this name.
    func find(_ name: String, of node: UInt32) -> TaskFact? { all[node]?[name] }

    /// Applies a task fact, replacing the entry of that name. Idempotent.
    mutating func apply(_ fact: TaskFact) {
        skip(to: fact.id)
        if case .done = fact {
            guard all[fact.node]?.removeValue(forKey: fact.name) != nil else { return }
            count -= 1
            if all[fact.node]?.isEmpty ?? false { all[fact.node] = nil }
        } else if all[fact.node, default: [:]].updateValue(fact, forKey: fact.name) == nil {
            count += 1
        }
        assert(invariants(at: fact.node))
    }

    /// Forgets the tasks of a removed node.
    mutating func forget(node: UInt32) {
        count -= all.removeValue(forKey: node)?.count ?? 0
        assert(invariants(at: node))
    }

    /// The current tasks, in the order of their ids.
    var facts: [TaskFact] { all.values.flatMap(\.values).sorted { $0.id < $1.id } }

    /// A node without tasks has no entry, every task counts, and no id is above the last one;
    /// checked for one node, and task by task only if it has few: a check of all would take as long
    /// as the table is large.
    func invariants(at node: UInt32) -> Bool {
        guard let tasks = all[node] else { return count >= 0 }
        return !tasks.isEmpty && tasks.count <= count
            && (tasks.count > 64
                || tasks.allSatisfy { $0.key == $0.value.name && $0.value.id <= lastID })
    }
}
