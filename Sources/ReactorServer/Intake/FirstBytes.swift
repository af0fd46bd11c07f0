import ReactorWire

/// The first bytes of a connection, before a whole header: shows whether the peer is a client.
enum FirstBytes {
    /// Number of bytes that the next check needs, if there are `count`. The fifth and sixth byte show
    /// whether the peer is a client; a peer that is none may never send a whole header.
    static func countNeeded(_ count: Int) -> Int {
        count < 5 ? 5 : count == 5 ? 6 : FrameHeader.byteCount
    }

    /// Checks bytes that are less than a header.
    ///
    /// *Throws*: if they do not come from a client: a kind that no client sends, or flags on an
    /// unknown kind.
    static func expectClient(_ bytes: Span<UInt8>, at offset: Int) throws(FrameError) {
        guard bytes.count &- offset >= 5 else { return }
        let kind = bytes[offset &+ 4]
        let isStranger =
            FrameKind.isIgnorable(kind)
            ? bytes.count &- offset >= 6 && bytes[offset &+ 5] != 0 : !FrameKind.isOfClient(kind)
        if isStranger { throw FrameError(.unknownKind(kind), at: offset) }
    }
}

extension FrameKind {
    /// Whether clients send frames of this raw kind.
    static func isOfClient(_ kind: UInt8) -> Bool {
        kind >= FrameKind.hello.rawValue && kind <= FrameKind.ping.rawValue
    }
}
