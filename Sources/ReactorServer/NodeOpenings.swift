import ReactorCore

/// Which connections have which children of collections open.
///
/// *Place*: the server tells it what connections open, and lets go of removed nodes by it: without
/// it, a child would stay in memory for as long as any connection that opened it.
///
/// Nodes that no transaction can remove are left out.
struct NodeOpenings {
    /// The places of each node, by the node's number.
    private var places: [UInt32: [Place]] = [:]

    /// Where a connection has a node: at this index of its own numbers.
    struct Place: Equatable {
        var connection: ConnectionID
        var index: Int
    }

    /// How many nodes are open anywhere.
    var count: Int { places.count }

    /// Records that a connection has put a node at `index`, in the place of the one before.
    mutating func move(_ place: Place, from old: AnyNode?, to new: AnyNode) {
        if let old { remove(place, of: old) }
        if Self.isRemovable(new) { places[new.number, default: []].append(place) }
    }

    /// Forgets the nodes of a connection that has ended.
    mutating func end(_ connection: ConnectionID, _ nodes: [AnyNode?]) {
        guard !places.isEmpty else { return }
        for (index, node) in nodes.enumerated() {
            if let node { remove(Place(connection: connection, index: index), of: node) }
        }
    }

    /// Forgets a removed node, and gives the places where it is open.
    mutating func take(_ node: AnyNode) -> [Place] {
        places.isEmpty ? [] : places.removeValue(forKey: node.number) ?? []
    }

    private mutating func remove(_ place: Place, of node: AnyNode) {
        guard let index = places[node.number]?.firstIndex(of: place) else { return }
        places[node.number]?.remove(at: index)
        if places[node.number]?.isEmpty ?? false { places[node.number] = nil }
    }

    private static func isRemovable(_ node: AnyNode) -> Bool {
        var next = node.parent
        while let parent = next {
            if parent.isCollection { return true }
            next = parent.parent
        }
        return false
    }
}
