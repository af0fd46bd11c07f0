import ReactorWire

/// A frame that a test cut out of a stream, or made.
struct Frame: Equatable {
    var header: FrameHeader
    var body: [UInt8]

    init(_ header: FrameHeader, _ body: [UInt8] = []) {
        self.header = header
        self.header.length = UInt32(body.count)
        self.body = body
    }

    init(_ kind: FrameKind, id: UInt32 = 0, number: UInt64 = 0, _ body: [UInt8] = []) {
        self.init(FrameHeader(kind: kind, id: id, number: number), body)
    }

    var kind: FrameKind? { FrameKind(rawValue: header.kind) }
    var flags: FrameFlags { header.flags }
    var id: UInt32 { header.id }
    var number: UInt64 { header.number }

    var bytes: [UInt8] {
        var writer = WireWriter()
        writer.header(header)
        return writer.bytes + body
    }

    /// The frames of `bytes`, which ends with a complete frame.
    static func split(_ bytes: [UInt8]) throws -> [Frame] {
        var frames: [Frame] = []
        var offset = 0
        while let header = try FrameHeader.decode(
            bytes.span, at: offset, frameBytesMax: WireLimits.daemonFrameBytesMax)
        {
            let start = offset + FrameHeader.byteCount
            offset = start + Int(header.length)
            frames.append(Frame(header, Array(bytes[start..<offset])))
        }
        return frames
    }
}

extension [Frame] {
    var bytes: [UInt8] { flatMap(\.bytes) }
}
