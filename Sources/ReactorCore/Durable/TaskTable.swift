/// What the reactors of a tree have promised: planned actions and durable effects.
///
/// *Cost*: finding, adding and removing one do not depend on how many others there are.
struct TaskTable: Sendable {
    /// The facts that stand, by node, then by name.
    private var all: [UInt32: [String: TaskFact]] = [:]
    private(set) var count = 0
    /// The highest id so far.
    private(set) var lastID: UInt64 = 0

    mutating func newID() -> UInt64 {
        lastID += 1
        return lastID
    }

    /// Takes note that tasks had ids up to this one.
    mutating func skip(to id: UInt64) { lastID = max(lastID, id) }

    // because tasks of a past that was lost were told to the world under ids that are forgotten here
    /// Numbers the tasks to come such that none has an id of a history that has lost its end, whose
    /// place that of `epoch` takes.
    mutating func begin(epoch: UInt64) {
        lastID = ((lastID >> 32) &+ 1 &+ (epoch >> 40)) << 32
    }

    /// The names under which something of a node stands.
    func names(of node: UInt32) -> [String] { all[node].map { Array($0.keys) } ?? [] }

    /// What stands under a name.
    func find(_ name: String, of node: UInt32) -> TaskFact? { all[node]?[name] }

    /// Makes a fact the one that stands under its name; heard again it changes nothing.
    mutating func apply(_ fact: TaskFact) {
        skip(to: fact.id)
        if case .done = fact {
            guard all[fact.node]?.removeValue(forKey: fact.name) != nil else { return }
            count -= 1
            if all[fact.node]?.isEmpty ?? false { all[fact.node] = nil }
        } else if all[fact.node, default: [:]].updateValue(fact, forKey: fact.name) == nil {
            count += 1
        }
    }

    /// Forgets what a node has promised, because it is gone.
    mutating func forget(node: UInt32) {
        count -= all.removeValue(forKey: node)?.count ?? 0
    }

    /// What stands, in the order in which it was promised first.
    var facts: [TaskFact] { all.values.flatMap(\.values).sorted { $0.id < $1.id } }
}
