/// The connections that own keys of reactors.
///
/// *Cost*: owning and disowning are O(1).
struct OwnershipTable {
    /// Owned keys with a running number, by connection and node.
    private var keys: [UInt64: [UInt32: [WireKey: UInt64]]] = [:]
    private var takings: UInt64 = 0
    /// Connections that own a key of a node.
    private var owners: [UInt32: Set<UInt64>] = [:]

    mutating func apply(_ fact: OwnershipFact) {
        switch fact {
        case .own(let node, let key, let connection, _):
            // Connection 0 is the daemon itself, which never ends.
            guard connection != 0, keys[connection]?[node]?[key] == nil else { return }
            takings += 1
            keys[connection, default: [:]][node, default: [:]][key] = takings
            owners[node, default: []].insert(connection)
            assert(invariants(at: node, connection))
        case .disown(let node, let key, let connection):
            keys[connection]?[node]?[key] = nil
            if keys[connection]?[node]?.isEmpty ?? false { forget(node, of: connection) }
            assert(invariants(at: node, connection))
        case .end(let connection): _ = take(connection: connection)
        }
    }

    /// The connections that own a key, in ascending order.
    var connections: [UInt64] { keys.keys.sorted() }

    /// The nodes with an owned key.
    var nodes: some Collection<UInt32> { owners.keys }

    /// The ownerships, in the order in which they were taken.
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

    /// The keys of `node` that `connection` owns, in the order in which it took them.
    func keys(of connection: UInt64, at node: UInt32) -> [WireKey] {
        (keys[connection]?[node] ?? [:]).sorted { $0.value < $1.value }.map(\.key)
    }

    /// Removes and returns the keys of `connection`, grouped by node in the order of each first
    /// key.
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
        assert(invariants(at: node, connection))
    }

    /// Number of owned keys.
    var count: Int {
        keys.values.reduce(0) { sum, nodes in nodes.values.reduce(sum) { $0 + $1.count } }
    }

    /// A connection is an owner of a node exactly if it owns a key of it; checked for one pair,
    /// since a check of all would take as long as the table is large.
    func invariants(at node: UInt32, _ connection: UInt64) -> Bool {
        let keys = keys[connection]?[node]
        return keys?.isEmpty != true
            && (keys != nil) == (owners[node]?.contains(connection) ?? false)
    }
}
