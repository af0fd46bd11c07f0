import ReactorCore

/// The children of collections that connections have open, with the connections.
///
/// *Place*: ``OpenNodes`` releases removed nodes with it. Without it, a removed child would stay in
/// memory until every connection that opened it has ended.
///
/// *Shape*: it excludes nodes that no transaction can remove. Each node in the table is open on a
/// connection.
struct NodeOpenings {
    /// The positions of each node, by the node's number.
    private var positions: [UInt32: [Position]] = [:]

    /// A connection, and the index of the node among its open nodes.
    struct Position: Equatable {
        let connection: Connection
        let index: Int

        static func == (one: Position, other: Position) -> Bool {
            one.connection === other.connection && one.index == other.index
        }
    }

    /// Number of open nodes.
    var count: Int { positions.count }

    /// Records that `new` replaces `old` at `position`.
    mutating func move(_ position: Position, from old: AnyNode?, to new: AnyNode) {
        if let old { remove(position, of: old) }
        if Self.isRemovable(new) { positions[new.number, default: []].append(position) }
    }

    /// Removes the nodes of an ended connection.
    mutating func leave(_ connection: Connection) {
        guard !positions.isEmpty else { return }
        for (index, open) in connection.nodes.enumerated() {
            if let node = open ?? connection.guarded[UInt32(index)]?.node {
                remove(Position(connection: connection, index: index), of: node)
            }
        }
    }

    /// Removes a node; returns the positions where it is open.
    mutating func remove(_ node: AnyNode) -> [Position] {
        positions.isEmpty ? [] : positions.removeValue(forKey: node.number) ?? []
    }

    /// Removes one position of a node.
    mutating func close(_ position: Position, of node: AnyNode) { remove(position, of: node) }

    private mutating func remove(_ position: Position, of node: AnyNode) {
        guard let index = positions[node.number]?.firstIndex(of: position) else { return }
        positions[node.number]?.remove(at: index)
        if positions[node.number]?.isEmpty ?? false { positions[node.number] = nil }
    }

    /// Whether each position is where its connection has the node.
    var agreeWithConnections: Bool {
        positions.allSatisfy { number, positions in
            !positions.isEmpty
                && positions.allSatisfy {
                    $0.index < $0.connection.nodes.count
                        && ($0.connection.nodes[$0.index]
                            ?? $0.connection.guarded[UInt32($0.index)]?.node)?.number == number
                }
        }
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
