import ReactorBytes
import ReactorCore
import ReactorWire

extension ServerSnapshot {
    /// A part, which any thread may encode.
    package struct Part: Sendable {
        private let content: Content

        private enum Content: Sendable {
            case nodes([SavedNode], onEncoded: (@Sendable (WireKey?, Int) -> Void)?)
            case other(@Sendable () -> SnapshotPart)
        }

        /// Nodes; `onEncoded` is called with the size of each.
        init(_ nodes: [SavedNode], _ onEncoded: (@Sendable (WireKey?, Int) -> Void)?) {
            content = .nodes(nodes, onEncoded: onEncoded)
        }

        init(_ part: @escaping @Sendable () -> SnapshotPart) { content = .other(part) }

        /// The part in one piece. *Cost*: copies it.
        package func callAsFunction() -> [UInt8] {
            var writer = WireWriter()
            switch content {
            case .other(let part): part().encode(into: &writer)
            case .nodes(let nodes, _):
                SnapshotPart.encodeNodes(into: &writer) { writer in
                    for node in nodes { node.encode(into: &writer) }
                }
            }
            return writer.bytes
        }

        /// Encodes the part as one or more parts of some megabytes, and lends each to `whole`. A node
        /// of more than ``WireWriter/wholeByteCountMax`` bytes is a separate part and never in
        /// memory as a whole: `large` gets the size of the part, and a function that encodes it in
        /// pieces, which it may call repeatedly.
        package func lend(to whole: (Span<UInt8>) -> Void, orInPieces large: PieceTaker) {
            switch content {
            case .other(let part):
                var writer = WireWriter()
                part().encode(into: &writer)
                writer.withBytes(whole)
            case .nodes(let nodes, let onEncoded):
                Self.lend(nodes, onEncoded, to: whole, orInPieces: large)
            }
        }

        /// Gets the size of a part, and a function that encodes it in pieces.
        package typealias PieceTaker = (
            _ byteCount: Int, _ encode: (_ take: (Span<UInt8>) -> Void) -> Void
        ) -> Void

        private static func lend(
            _ nodes: [SavedNode], _ onEncoded: (@Sendable (WireKey?, Int) -> Void)?,
            to whole: (Span<UInt8>) -> Void, orInPieces large: PieceTaker
        ) {
            var part = WireWriter()
            var own = WireWriter(to: ByteSink(keepingAtMost: WireWriter.wholeByteCountMax))
            for node in nodes {
                node.encode(into: &own)
                onEncoded?(node.topName, own.count)
                if part.count > 0, own.hasPassedOn || part.count + own.count > partBytesMax {
                    lend(&part, to: whole)
                }
                if own.hasPassedOn {
                    lend(node, of: own.count, inPiecesTo: large)
                } else {
                    own.withBytes { part.raw($0) }
                }
                own.removeAll(keepingAtMost: partBytesMax)
            }
            if part.count > 0 { lend(&part, to: whole) }
        }

        // Parts of this size cost little beside a state, and few transactions.
        /// Bytes of nodes in a part, unless one node has more.
        static let partBytesMax = 1 << 20

        private static func lend(_ nodes: inout WireWriter, to whole: (Span<UInt8>) -> Void) {
            let byteCount = nodes.count
            var writer = WireWriter(capacity: byteCount + 32)
            SnapshotPart.beginNodes(of: byteCount, in: &writer)
            nodes.withBytes { writer.raw($0) }
            nodes.removeAll(keepingAtMost: 2 * partBytesMax)
            writer.withBytes(whole)
        }

        private static func lend(
            _ node: SavedNode, of nodeByteCount: Int, inPiecesTo large: PieceTaker
        ) {
            let stateByteCount = node.stateByteCount(in: nodeByteCount)
            let headByteCount = WireWriter.byteCount {
                SnapshotPart.beginNodes(of: nodeByteCount, in: &$0)
            }
            large(headByteCount + nodeByteCount) { take in
                WireWriter.pieces(
                    of: ByteSink.pieceByteCount,
                    { writer in
                        SnapshotPart.beginNodes(of: nodeByteCount, in: &writer)
                        node.encode(into: &writer, stateByteCount: stateByteCount)
                    }, to: take)
            }
        }
    }
}

/// A part of a snapshot, as it is stored.
///
/// Nodes and ownerships have the snapshot's revision. Other parts may be later, up to the end of
/// the journal when the snapshot was finished: replaying facts twice changes nothing.
@WireCodable
enum SnapshotPart: Equatable, Sendable {
    /// The schemas that the history records, before all other parts.
    case schemas([KeptSchema])
    /// Nodes, one after the other: see `SavedNode`.
    case nodes([UInt8])
    /// Sessions with their outcomes.
    case sessions([SavedSession])
    /// All ownerships.
    case ownership([OwnershipFact])
    /// Durable tasks and leases.
    case tasks([TaskFact])
    /// The remembered ended sessions, and the highest sequence at which a forgotten session ended.
    case ended(sessions: [EndedSession], forgottenUpTo: UInt64?)
    /// The highest numbers of connections, clients and durable tasks, and the epoch.
    case numbers(connection: UInt64, client: UInt64, task: UInt64, epoch: UInt64)

    /// Appends the part with the nodes that `body` appends. Unlike the encoding of a value of this
    /// type, that does not hold a state of many bytes twice.
    static func encodeNodes(
        into writer: inout WireWriter, _ body: (inout WireWriter) -> Void
    ) {
        SnapshotPart.nodes([]).encode(into: &writer)
        // The empty byte string at the end makes room for that of the nodes.
        writer.truncate(to: writer.count - 1)
        writer.byteString(of: body)
    }

    /// Appends what comes before `byteCount` bytes of nodes.
    static func beginNodes(of byteCount: Int, in writer: inout WireWriter) {
        var head = WireWriter(capacity: 16)
        SnapshotPart.nodes([]).encode(into: &head)
        head.truncate(to: head.count - 1)
        head.withBytes { writer.raw($0) }
        writer.head(major: 2, UInt64(byteCount))
    }

    /// The range of the nodes in an encoded part; nil if it is another one. Unlike a decoded value, it
    /// does not hold a state of many bytes twice.
    static func nodes(in part: Span<UInt8>) throws(WireError) -> Range<Int>? {
        var cursor = WireCursor()
        var map = try cursor.openMap(in: part)
        guard let name = try cursor.nextName(in: part, &map), part.text(name) == "nodes" else {
            return nil
        }
        let range = try cursor.byteStringRange(in: part)
        // Nothing may follow.
        guard range.upperBound == part.count else {
            throw WireError(.trailingBytes(part.count - range.upperBound), at: range.upperBound)
        }
        return range
    }
}
