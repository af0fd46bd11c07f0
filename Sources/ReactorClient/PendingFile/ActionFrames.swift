import ReactorBytes
import ReactorWire

/// Reads the frames of actions that this client has written.
enum ActionFrames {
    /// Calls `body` with the ordinal and the range of each action among the complete frames in
    /// `range`.
    static func forEach(
        in bytes: Span<UInt8>, _ range: Range<Int>, _ body: (UInt64, Range<Int>) -> Void
    ) {
        var offset = range.lowerBound
        while offset < range.upperBound {
            let end = offset + FrameHeader.byteCount + Int(bytes.word(at: offset, byteCount: 4))
            let kind = bytes[offset + 4]
            if kind == FrameKind.dispatch.rawValue || kind == FrameKind.batch.rawValue {
                body(bytes.word(at: offset + 12, byteCount: 8), offset..<end)
            }
            offset = end
        }
    }

    /// The numbers of the nodes that an action's frame names.
    static func nodes(of frame: Span<UInt8>) -> [UInt32] {
        guard frame[4] == FrameKind.batch.rawValue else {
            return [UInt32(frame.word(at: 8, byteCount: 4))]
        }
        return (try? batchNodes(of: frame)) ?? []
    }

    private static func batchNodes(of frame: Span<UInt8>) throws(WireError) -> [UInt32] {
        var cursor = WireCursor(offset: FrameHeader.byteCount)
        if FrameFlags(rawValue: frame[5]).contains(.options) { try cursor.skip(in: frame) }
        var nodes: [UInt32] = []
        var pairs = try cursor.openArray(in: frame)
        while try cursor.nextElement(in: frame, &pairs) {
            var pair = try cursor.openArray(in: frame)
            guard try cursor.nextElement(in: frame, &pair) else { continue }
            nodes.append(try UInt32.decode(frame, &cursor))
            while try cursor.nextElement(in: frame, &pair) { try cursor.skip(in: frame) }
        }
        return nodes
    }
}
