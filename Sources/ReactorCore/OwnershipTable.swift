/// Which connection owns which keys of which reactor.
///
/// *Cost*: owning and disowning do not depend on how much is owned.
struct OwnershipTable {
    /// Keys with the number of their taking, by connection, then by node.
    private var keys: [UInt64: [UInt32: [WireKey: UInt64]]] = [:]
    private var takings: UInt64 = 0
    /// Connections that own something of a node.
    private var owners: [UInt32: Set<UInt64>] = [:]

    mutating func apply(_ fact: OwnershipFact) {
        switch fact {
        case .own(let node, let key, let connection, _):
            // because the daemon itself never ends
            guard connection != 0, keys[connection]?[node]?[key] == nil else { return }
            takings += 1
            keys[connection, default: [:]][node, default: [:]][key] = takings
            owners[node, default: []].insert(connection)
        case .disown(let node, let key, let connection):
            keys[connection]?[node]?[key] = nil
            if keys[connection]?[node]?.isEmpty ?? false { forget(node, of: connection) }
        case .end(let connection): _ = take(connection: connection)
        }
    }

    /// The connections that own something, in ascending order.
    var connections: [UInt64] { keys.keys.sorted() }

    /// The nodes of which something is owned.
    var nodes: some Collection<UInt32> { owners.keys }

    /// What there is, in the order in which it was taken.
    var facts: [OwnershipFact] {
        var all: [(taking: UInt64, fact: OwnershipFact)] = []
        for (connection, nodes) in keys {
            for (node, keys) in nodes {
                for (key, taking) in keys {
                    all.append((taking, .own(node: node, key: key, connection: connection)))
                }
            }
        }
        return all.sorted { $0.taking < $1.taking }.map(\.fact)
    }

    /// Takes out what `connection` owned, grouped by node in the order of the first key of each.
    mutating func take(connection: UInt64) -> [(node: UInt32, keys: [WireKey])] {
        let taken = keys.removeValue(forKey: connection) ?? [:]
        for node in taken.keys { dropOwner(connection, of: node) }
        let nodes = taken.map { node, keys in
            (node: node, keys: keys.sorted { $0.value < $1.value })
        }
        return nodes.sorted { ($0.keys.first?.value ?? 0) < ($1.keys.first?.value ?? 0) }
            .map { ($0.node, $0.keys.map { $0.key }) }
    }

    mutating func forget(node: UInt32) {
        for connection in owners[node] ?? [] { forget(node, of: connection) }
    }

    private mutating func forget(_ node: UInt32, of connection: UInt64) {
        keys[connection]?[node] = nil
        if keys[connection]?.isEmpty ?? false { keys[connection] = nil }
        dropOwner(connection, of: node)
    }

    private mutating func dropOwner(_ connection: UInt64, of node: UInt32) {
        owners[node]?.remove(connection)
        if owners[node]?.isEmpty ?? false { owners[node] = nil }
    }

    /// How many keys are owned in all.
    var count: Int {
        keys.values.reduce(0) { sum, nodes in nodes.values.reduce(sum) { $0 + $1.count } }
    }
}
