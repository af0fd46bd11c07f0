package import ReactorCore

extension WireValue {
    /// The difference from `old` as a JSON merge patch (RFC 7396): of maps, the keys whose values
    /// differ, with `null` for keys that are gone; of all others, the value itself. `nil` if both
    /// are equal.
    ///
    /// *Cost*: O(size of the value).
    package func mergePatch(from old: WireValue) -> WireValue? {
        guard case .map(let new) = self, case .map(let old) = old else {
            return self == old ? nil : self
        }
        var pairs: [WireMap.Pair] = []
        var before = old.makeIterator()
        var gone = before.next()
        for pair in new {
            // Both maps are in the order of their keys.
            while let left = gone, left.key < pair.key {
                pairs.append(WireMap.Pair(key: left.key, value: .null))
                gone = before.next()
            }
            guard let left = gone, left.key == pair.key else {
                pairs.append(pair)
                continue
            }
            gone = before.next()
            guard let value = pair.value.mergePatch(from: left.value) else { continue }
            pairs.append(WireMap.Pair(key: pair.key, value: value))
        }
        while let left = gone {
            pairs.append(WireMap.Pair(key: left.key, value: .null))
            gone = before.next()
        }
        if pairs.isEmpty { return nil }
        // The pairs are in ascending order, each key once.
        return (try? WireMap(pairs)).map { .map($0) }
    }
}
