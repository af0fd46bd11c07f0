/// The effects of a tree that were asked for and have not ended.
///
/// *Cost*: looking for those of a node, or of a transaction, does not depend on how many others
/// run.
struct EffectTable {
    private var all: [EffectID: RunningEffect] = [:]
    /// Numbers of the effects of each node.
    private var numbers: [UInt32: Set<UInt64>] = [:]
    /// How many effects of each transaction run, sources left out.
    private var counts: [UInt64: Int] = [:]

    var isEmpty: Bool { all.isEmpty }
    var count: Int { all.count }
    var values: some Collection<RunningEffect> { all.values }
    /// The effects, in the order in which they were asked for.
    var sorted: [(id: EffectID, effect: RunningEffect)] {
        all.sorted { $0.key.number < $1.key.number }.map { ($0.key, $0.value) }
    }

    subscript(id: EffectID) -> RunningEffect? { all[id] }

    mutating func add(_ effect: RunningEffect, as id: EffectID) {
        all[id] = effect
        numbers[id.node, default: []].insert(id.number)
        if !effect.isSource { counts[effect.sequence, default: 0] += 1 }
    }

    mutating func remove(_ id: EffectID) -> RunningEffect? {
        guard let effect = all.removeValue(forKey: id) else { return nil }
        numbers[id.node]?.remove(id.number)
        if numbers[id.node]?.isEmpty ?? false { numbers[id.node] = nil }
        if !effect.isSource, let count = counts[effect.sequence] {
            counts[effect.sequence] = count > 1 ? count - 1 : nil
        }
        return effect
    }

    /// Says how the work of an effect is ended, if it still runs.
    mutating func set(cancel: @escaping @Sendable () -> Void, of id: EffectID) {
        all[id]?.cancel = cancel
    }

    /// Whether effects of the transaction numbered `sequence` run, sources left out.
    func isAny(of sequence: UInt64) -> Bool { counts[sequence] != nil }

    // because a run that is repeated from its seed is to cancel them in the same order
    /// Those of a node that are meant, in the order in which they were asked for.
    func ids(ofNode node: UInt32, where isMeant: (EffectID, RunningEffect) -> Bool) -> [EffectID] {
        (numbers[node] ?? []).sorted().map { EffectID(node: node, number: $0) }.filter { id in
            all[id].map { isMeant(id, $0) } ?? false
        }
    }

    /// Those that are meant, in the order in which they were asked for.
    func ids(where isMeant: (RunningEffect) -> Bool) -> [EffectID] {
        all.filter { isMeant($0.value) }.keys.sorted { $0.number < $1.number }
    }
}
