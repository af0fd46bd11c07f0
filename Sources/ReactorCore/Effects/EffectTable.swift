import DequeModule

/// The effects of a tree that were requested and have not ended.
///
/// *Cost*: finding the effects of a node, a name, a connection or a transaction does not depend on
/// the number of other effects.
struct EffectTable {
    /// The effects by their numbers, which are unique in a tree.
    private var all: [UInt64: Entry] = [:]
    /// Numbers of the effects of each node.
    private var numbers: [UInt32: Set<UInt64>] = [:]
    /// Numbers of the effects under each cancel id and each cancel scope.
    private var groups: [Selected: Set<UInt64>] = [:]
    /// Numbers of the effects that end with a connection.
    private var connections: [UInt64: Set<UInt64>] = [:]
    /// The effects of each transaction, without sources.
    private var runs: [UInt64: Run] = [:]
    /// Number of effects that have started to run.
    private(set) var startedCount = 0

    private struct Entry {
        var node: UInt32
        var effect: RunningEffect
    }

    private struct Selected: Hashable {
        var node: UInt32
        var selection: EffectSelection
    }

    // Numbers follow the order of transactions, so the effects of one transaction are neighbours.
    private struct Run {
        var first: UInt64
        var last: UInt64
        var count = 1

        /// Adds an effect.
        mutating func include(_ number: UInt64) {
            last = number
            count += 1
        }

        /// Removes one effect. Returns whether it was the last.
        mutating func leave() -> Bool {
            count -= 1
            return count == 0
        }
    }

    var isEmpty: Bool { all.isEmpty }
    var count: Int { all.count }
    var values: some Collection<RunningEffect> { all.values.lazy.map(\.effect) }
    /// The effects, in the order of the requests.
    var sorted: [(id: EffectID, effect: RunningEffect)] {
        all.sorted { $0.key < $1.key }.map {
            (EffectID(node: $0.value.node, number: $0.key), $0.value.effect)
        }
    }

    subscript(id: EffectID) -> RunningEffect? { all[id.number]?.effect }

    mutating func insert(_ effect: RunningEffect, as id: EffectID) {
        all[id.number] = Entry(node: id.node, effect: effect)
        numbers[id.node, default: []].insert(id.number)
        for selection in effect.selections {
            groups[Selected(node: id.node, selection: selection), default: []].insert(id.number)
        }
        if let connection = effect.connection {
            connections[connection, default: []].insert(id.number)
        }
        guard !effect.isSource else { return }
        if runs[effect.sequence]?.include(id.number) == nil {
            runs[effect.sequence] = Run(first: id.number, last: id.number)
        }
    }

    mutating func remove(_ id: EffectID) -> RunningEffect? {
        guard let effect = all.removeValue(forKey: id.number)?.effect else { return nil }
        if effect.cancel != nil { startedCount -= 1 }
        numbers.remove(id.number, under: id.node)
        for selection in effect.selections {
            groups.remove(id.number, under: Selected(node: id.node, selection: selection))
        }
        if let connection = effect.connection { connections.remove(id.number, under: connection) }
        if !effect.isSource, runs[effect.sequence]?.leave() ?? false {
            runs[effect.sequence] = nil
        }
        return effect
    }

    /// Records that an effect runs, and how to cancel it.
    mutating func set(cancel: @escaping @Sendable () -> Void, of id: EffectID) {
        guard let before = all[id.number] else { return }
        if before.effect.cancel == nil { startedCount += 1 }
        all[id.number]?.effect.cancel = cancel
    }

    /// Whether effects of the transaction numbered `sequence` run, without sources.
    func isAny(of sequence: UInt64) -> Bool { runs[sequence] != nil }

    /// The effects of a node.
    func ids(ofNode node: UInt32) -> [EffectID] { ids(numbers[node] ?? []) }

    /// The effects that a cancellation selects.
    func ids(of cancellation: EffectCancellation) -> [EffectID] {
        let candidates =
            switch cancellation.selection {
            case .all, .lifecycle: numbers[cancellation.node]
            case .named, .scoped:
                groups[Selected(node: cancellation.node, selection: cancellation.selection)]
            }
        guard let candidates else { return [] }
        return ids(
            candidates.filter { number in
                guard number <= cancellation.last, let entry = all[number] else { return false }
                return cancellation.selection.contains(entry.effect)
            })
    }

    /// The effects that end with a connection.
    func ids(ofConnection connection: UInt64) -> [EffectID] { ids(connections[connection] ?? []) }

    /// The effects of the transaction numbered `sequence`, without sources.
    func ids(of sequence: UInt64) -> [EffectID] {
        guard let run = runs[sequence] else { return [] }
        return (run.first...run.last).compactMap { number in
            guard let entry = all[number], !entry.effect.isSource,
                entry.effect.sequence == sequence
            else { return nil }
            return EffectID(node: entry.node, number: number)
        }
    }

    // Sorted, so that a run that is repeated from its seed cancels them in the same order.
    private func ids(_ numbers: Set<UInt64>) -> [EffectID] {
        numbers.sorted().compactMap { number in
            all[number].map { EffectID(node: $0.node, number: number) }
        }
    }
}

extension Dictionary where Value == Set<UInt64> {
    fileprivate mutating func remove(_ number: UInt64, under key: Key) {
        self[key]?.remove(number)
        if self[key]?.isEmpty ?? false { self[key] = nil }
    }
}

extension RunningEffect {
    /// The selections under which the table indexes this effect.
    fileprivate var selections: [EffectSelection] {
        // Nearly all effects have neither; an empty array costs no allocation.
        guard cancelID != nil || scope != nil else { return [] }
        return (cancelID.map { [.named($0)] } ?? []) + (scope.map { [.scoped($0)] } ?? [])
    }
}

/// Effects that wait for free capacity, first in, first out.
struct EffectQueue {
    private var starts: [EffectID: () -> Void] = [:]
    /// The order; it may still contain effects that were removed.
    private var order = Deque<EffectID>()

    var isEmpty: Bool { starts.isEmpty }
    var count: Int { starts.count }
    /// Length of the order, including removed effects.
    var keptCount: Int { order.count }

    /// Adds an effect at the end; the caller of ``popFirst()`` or ``remove(_:)`` calls `start`
    /// once.
    mutating func append(_ id: EffectID, _ start: @escaping () -> Void) {
        starts[id] = start
        order.append(id)
    }

    /// Removes the first effect.
    mutating func popFirst() -> (() -> Void)? {
        while let id = order.popFirst() {
            if let start = starts.removeValue(forKey: id) { return start }
        }
        return nil
    }

    /// Removes an effect at any position.
    mutating func remove(_ id: EffectID) -> (() -> Void)? {
        guard let start = starts.removeValue(forKey: id) else { return nil }
        // Effects that are added and cancelled while none starts would fill the order.
        if order.count > 2 * starts.count + 64 { order.removeAll { starts[$0] == nil } }
        return start
    }
}
