import ReactorCore
import ReactorServer
import ReactorWire

/// Claims about the server, for any input of a client and any split of it.
///
/// *Shape* of an input: the first byte controls the use of the rest. Bit 0: a valid HELLO
/// precedes it. Bit 1: the rest is a script of frames (see ``script(_:)``), not a stream of
/// bytes. The other bits seed the splits.
enum StreamClaims {
    static func check(_ input: [UInt8]) {
        guard let first = input.first else { return }
        var writer = WireWriter()
        if first & 1 != 0 { writer.greet() }
        let rest = Array(input.dropFirst())
        let bytes = writer.bytes + (first & 2 != 0 ? script(rest) : rest)

        let whole = Shell()
        whole.receive(bytes) { bytes.count }
        var seed = UInt64(first >> 2) &+ 1
        let cut = Shell()
        cut.receive(bytes) {
            seed = seed &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
            return Int(seed >> 60)
        }
        for shell in [whole, cut] { finish(shell) }

        // Without a valid HELLO the fault sent to `stranger` depends on the split, so
        // only the witness is compared.
        for id in [Shell.stranger, Shell.witness] where first & 1 != 0 || id == Shell.witness {
            claim(
                whole.written[id] == cut.written[id], "cuts make no difference to what is sent")
        }
        claim(whole.closed == cut.closed, "cuts make no difference to closed connections")
        claim(whole.server.tree.revision == cut.server.tree.revision, "cuts change no revision")
    }

    private static func finish(_ shell: Shell) {
        shell.endTurn()
        shell.server.endInput(Shell.stranger)
        shell.endTurn()
        shell.server.disconnect(Shell.stranger, at: 0)
        shell.endTurn()
        shell.server.tick(at: 1)
        shell.endTurn()
        claim(!shell.closed.contains(Shell.witness), "a faulty client closes no other")
        claim(shell.server.connectionCount == 1, "a closed connection is forgotten")
        for bytes in shell.written.values { readFrames(bytes) }
    }

    /// Claims that the server writes whole frames.
    private static func readFrames(_ bytes: [UInt8]) {
        var offset = 0
        while offset < bytes.count {
            let header = try? FrameHeader.decode(
                bytes.span, at: offset, frameBytesMax: WireLimits.frameBytesMax)
            guard let header else { fatalError("refuted: the server sends whole headers") }
            claim(FrameKind(rawValue: header.kind) != nil, "the server sends known kinds")
            offset += FrameHeader.byteCount + Int(header.length)
        }
        claim(offset == bytes.count, "the server sends whole frames")
    }

    /// Creates frames that reach their handlers: each five bytes give the kind, the flags, the
    /// id, the number, and the length of the body that follows.
    private static func script(_ input: [UInt8]) -> [UInt8] {
        var writer = WireWriter()
        var rest = input[...]
        while rest.count >= 5 {
            let head = Array(rest.prefix(5))
            let body = rest.dropFirst(5).prefix(Int(head[4]))
            let frame = writer.beginFrame(
                FrameKind.allCases[Int(head[0]) % FrameKind.allCases.count],
                flags: FrameFlags(rawValue: head[1]), id: UInt32(head[2]), number: UInt64(head[3]))
            writer.raw(Array(body).span)
            writer.endFrame(at: frame)
            rest = rest.dropFirst(5 + body.count)
        }
        return writer.bytes
    }
}
