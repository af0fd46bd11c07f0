/// Which connection owns which keys of which reactor.
///
/// *Cost*: owning and disowning do not depend on how much is owned.
struct OwnershipTable {
    /// Keys with the number of their taking, by connection, then by node.
    private var keys: [UInt64: [UInt32: [WireKey: UInt64]]] = [:]
    private var takings: UInt64 = 0

    mutating func apply(_ change: Turn.OwnershipChange) {
        switch change {
        case .own(let node, let key, let connection):
            // because the daemon itself never ends
            guard connection != 0, keys[connection]?[node]?[key] == nil else { return }
            takings += 1
            keys[connection, default: [:]][node, default: [:]][key] = takings
        case .disown(let node, let key, let connection):
            keys[connection]?[node]?[key] = nil
            if keys[connection]?[node]?.isEmpty ?? false { forget(node, of: connection) }
        }
    }

    /// Takes out what `connection` owned, grouped by node in the order of the first key of each.
    mutating func take(connection: UInt64) -> [(node: UInt32, keys: [WireKey])] {
        let nodes = (keys.removeValue(forKey: connection) ?? [:]).map { node, keys in
            (node: node, keys: keys.sorted { $0.value < $1.value })
        }
        return nodes.sorted { ($0.keys.first?.value ?? 0) < ($1.keys.first?.value ?? 0) }
            .map { ($0.node, $0.keys.map(\.key)) }
    }

    mutating func forget(node: UInt32) {
        for connection in keys.keys { forget(node, of: connection) }
    }

    private mutating func forget(_ node: UInt32, of connection: UInt64) {
        keys[connection]?[node] = nil
        if keys[connection]?.isEmpty ?? false { keys[connection] = nil }
    }

    /// How many keys are owned in all.
    var count: Int {
        keys.values.reduce(0) { sum, nodes in nodes.values.reduce(sum) { $0 + $1.count } }
    }
}
