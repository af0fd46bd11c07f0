/// The value of the leader key.
///
/// *Shape*: format 1 (one byte), kind (one byte), index of the node (one byte), then for a held
/// leadership the incarnation and the attempt (eight bytes each, lowest first).
package enum LeaderRecord: Equatable, Sendable {
    /// A node leads, or led until now.
    case held(LeaderClaim)
    /// The leader stepped down. The successor may take over at once; without a successor, any node
    /// may.
    case vacant(successor: ClusterNode?)

    /// The claim of the leader; nil if the leadership is vacant.
    package var claim: LeaderClaim? {
        if case .held(let claim) = self { claim } else { nil }
    }
}

/// A node's claim to lead.
package struct LeaderClaim: Equatable, Sendable {
    /// The node.
    package var node: ClusterNode
    /// The node's process: the version of its first report.
    package var incarnation: UInt64
    /// Counts the take-overs of the process, from 1 on, so that a claim whose answer was lost is
    /// recognised.
    package var attempt: UInt64

    /// Creates a claim.
    package init(node: ClusterNode, incarnation: UInt64, attempt: UInt64) {
        self.node = node
        self.incarnation = incarnation
        self.attempt = attempt
    }
}

extension LeaderRecord {
    private static let format: UInt8 = 1

    /// The record's bytes.
    package var bytes: [UInt8] {
        var bytes = [Self.format]
        switch self {
        case .held(let claim):
            bytes += [1, claim.node.index]
            bytes.append(claim.incarnation, byteCount: 8)
            bytes.append(claim.attempt, byteCount: 8)
        case .vacant(let successor): bytes += [2, successor?.index ?? 0]
        }
        return bytes
    }

    /// Decodes a value of the leader key.
    package init(bytes: [UInt8]) throws(RecordError) {
        var reader = RecordReader("leader record", bytes)
        try reader.checkFormat(Self.format)
        let kind = try reader.byte("kind")
        guard kind == 1 || kind == 2 else {
            throw reader.invalid("kind", byteCount: 1, got: UInt64(kind))
        }
        let index = try reader.byte("node")
        let node = ClusterNode(validating: index)
        if kind == 2 {
            self = .vacant(successor: node)
        } else {
            guard let node else { throw reader.invalid("node", byteCount: 1, got: 0) }
            self = .held(
                LeaderClaim(
                    node: node, incarnation: try reader.word("incarnation"),
                    attempt: try reader.word("attempt")))
        }
        try reader.end()
    }
}
