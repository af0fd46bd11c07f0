import ReactorCore

/// The keys of the children that a selection shows, in its order, with the staged changes.
///
/// *Place*: a ``CollectionSink`` stages the daemon's updates, and compares the order with the
/// children before they take effect.
struct OrderedNames {
    private var names: [WireKey] = []
    private var staged: [WireKey]?
    /// For each key that a staged update names, how often it was added more than removed.
    private var differences: [WireKey: Int] = [:]

    /// The keys that the staged updates name.
    var changedNames: some Sequence<WireKey> { differences.keys }

    /// How often the staged order has `name`; `isKnown` says whether the order in effect has it.
    func count(of name: WireKey, isKnown: Bool) -> Int {
        (isKnown ? 1 : 0) + (differences[name] ?? 0)
    }

    /// Stages another order.
    mutating func plan(whole: [WireKey]) {
        differences = [:]
        for name in names { differences[name, default: 0] -= 1 }
        for name in whole { differences[name, default: 0] += 1 }
        staged = whole
    }

    /// Stages an insertion before the position that `key` spells or, without a name, the removal
    /// there. Returns false if there is no such position.
    mutating func plan(step key: WireKey, inserting name: WireKey?) -> Bool {
        var order = staged ?? names
        staged = nil
        defer { staged = order }
        if let name {
            guard order.step(key, inserting: name) else { return false }
            differences[name, default: 0] += 1
            return true
        }
        guard let position = Int(key.text), order.indices.contains(position) else { return false }
        differences[order[position], default: 0] -= 1
        return order.step(key, inserting: nil)
    }

    /// Drops the staged changes.
    mutating func discard() {
        staged = nil
        differences = [:]
    }

    /// Makes the staged order the one in effect; returns it, or `nil` if none is staged.
    mutating func commit() -> [WireKey]? {
        guard let staged else { return nil }
        names = staged
        discard()
        return names
    }
}
