/// The state of a node, which the node reports every few seconds.
///
/// *Shape*: format 1 (one byte), index (one byte), then in eight bytes each, lowest first:
/// incarnation, applied row, stored row, durable row, number and revision of the durable entry,
/// snapshot row, wall clock, fingerprint; then the length of the peer address (two bytes) and its
/// UTF-8.
package struct NodeReport: Equatable, Sendable {
    /// The node.
    package var node: ClusterNode
    /// The process: the version of its first report; 0 in that report.
    package var incarnation: UInt64 = 0
    /// The last row that the node's tree has.
    package var applied: UInt64 = 0
    /// The last row in the local file.
    package var stored: UInt64 = 0
    /// The last row that survives a power cut of this node.
    package var durable: UInt64 = 0
    /// The position after the entry that contains the row ``durable``, or before it.
    package var durablePosition: LogPosition = .beginning
    /// The row of the newest snapshot; 0 without one.
    package var snapshot: UInt64 = 0
    /// The wall clock in milliseconds since 1970.
    package var wallClock: Int64 = 0
    /// The fingerprint of the node's reactors.
    package var fingerprint: UInt64 = 0
    /// The address at which other daemons reach this one; empty without one.
    package var peer: String = ""

    /// Creates an empty report of a node.
    package init(node: ClusterNode) { self.node = node }
}

extension NodeReport {
    private static let format: UInt8 = 1
    /// Maximum length of the address of a peer in bytes; a longer one is not written.
    package static let peerBytesMax = 4_096

    /// The report's bytes. *Traps*: if the peer's address is longer than ``peerBytesMax``.
    package var bytes: [UInt8] {
        let address = Array(peer.utf8)
        precondition(
            address.count <= Self.peerBytesMax,
            "a peer's address of \(address.count) bytes exceeds \(Self.peerBytesMax)")
        var bytes = [Self.format, node.index]
        for word in [
            incarnation, applied, stored, durable, durablePosition.number,
            durablePosition.revision, snapshot, UInt64(bitPattern: wallClock), fingerprint,
        ] {
            bytes.append(word, byteCount: 8)
        }
        bytes.append(address.count, byteCount: 2)
        return bytes + address
    }

    /// Decodes the value of a node's key.
    package init(bytes: [UInt8]) throws(RecordError) {
        var reader = RecordReader("node report", bytes)
        try reader.checkFormat(Self.format)
        guard let node = ClusterNode(validating: try reader.byte("node")) else {
            throw reader.invalid("node", byteCount: 1, got: 0)
        }
        self.node = node
        incarnation = try reader.word("incarnation")
        applied = try reader.word("applied row")
        stored = try reader.word("stored row")
        durable = try reader.word("durable row")
        durablePosition = LogPosition(
            number: try reader.word("durable entry"),
            revision: try reader.word("durable revision"))
        snapshot = try reader.word("snapshot row")
        wallClock = Int64(bitPattern: try reader.word("wall clock"))
        fingerprint = try reader.word("fingerprint")
        let byteCount = Int(try reader.number("peer's length", byteCount: 2))
        guard byteCount <= Self.peerBytesMax else {
            throw reader.invalid("peer's length", byteCount: 2, got: UInt64(byteCount))
        }
        let address = try reader.take("peer", byteCount: byteCount)
        guard let peer = String(validating: address, as: UTF8.self) else {
            throw reader.invalid("peer", byteCount: byteCount, got: UInt64(byteCount))
        }
        self.peer = peer
        try reader.end()
    }
}
