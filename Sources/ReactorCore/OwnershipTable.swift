/// Which connection owns which keys of which reactor.
struct OwnershipTable {
    /// Keys by connection, then by node, in the order in which they were taken.
    private var keys: [UInt64: [(node: UInt32, key: WireKey)]] = [:]

    mutating func apply(_ change: Turn.OwnershipChange) {
        switch change {
        case .own(let node, let key, let connection):
            // because the daemon itself never ends
            guard connection != 0 else { return }
            let isThere = keys[connection]?.contains { $0.node == node && $0.key == key } ?? false
            if !isThere { keys[connection, default: []].append((node, key)) }
        case .disown(let node, let key, let connection):
            keys[connection]?.removeAll { $0.node == node && $0.key == key }
            if keys[connection]?.isEmpty ?? false { keys[connection] = nil }
        }
    }

    /// Takes out what `connection` owned, grouped by node in the order of the first key of each.
    mutating func take(connection: UInt64) -> [(node: UInt32, keys: [WireKey])] {
        var grouped: [(node: UInt32, keys: [WireKey])] = []
        for (node, key) in keys.removeValue(forKey: connection) ?? [] {
            if let index = grouped.firstIndex(where: { $0.node == node }) {
                grouped[index].keys.append(key)
            } else {
                grouped.append((node, [key]))
            }
        }
        return grouped
    }

    mutating func forget(node: UInt32) {
        for connection in keys.keys {
            keys[connection]?.removeAll { $0.node == node }
            if keys[connection]?.isEmpty ?? false { keys[connection] = nil }
        }
    }

    /// How many keys are owned in all.
    var count: Int { keys.values.reduce(0) { $0 + $1.count } }
}
