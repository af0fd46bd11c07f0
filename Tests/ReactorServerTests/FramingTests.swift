import ReactorCore
import ReactorWire
import Testing

@testable import ReactorServer

/// Rows W1 to W9, W20 and W21: bytes against the protocol.
struct FramingTests {
    /// One valid frame of each kind that a client sends.
    static func frames() -> [(name: String, bytes: [UInt8])] {
        let hello = Hello().wireBytes()
        let add = Tally.Action.add(by: 5).wireBytes()
        var batch = WireWriter()
        batch.array(count: 1)
        batch.array(count: 2)
        batch.unsigned(0)
        batch.raw(add)
        let subscribe = Subscribe(path: "/visits", mode: .replica).wireBytes()
        return [
            ("hello", TestClient.frame(.hello, number: Hello.magic, hello)),
            ("goodbye", TestClient.frame(.goodbye)),
            ("open", TestClient.frame(.open, number: 1, Open(path: "/visits").wireBytes())),
            ("dispatch", TestClient.frame(.dispatch, number: 1, add)),
            ("batch", TestClient.frame(.batch, number: 1, batch.bytes)),
            ("subscribe", TestClient.frame(.subscribe, number: 2, subscribe)),
            ("unsubscribe", TestClient.frame(.unsubscribe, id: 1)),
            ("confirm", TestClient.frame(.confirm, number: 1)),
            ("ask", TestClient.frame(.ask, number: 3, Question.tree.wireBytes())),
            ("ping", TestClient.frame(.ping, number: 4)),
        ]
    }

    @Test("W1: a stream cut at any byte of any frame waits, and its end applies nothing")
    func cut() throws {
        for (name, bytes) in Self.frames() {
            for end in 0..<bytes.count {
                let harness = ServerHarness()
                let client = harness.connect()
                if name != "hello" {
                    client.hello()
                    client.open("/visits")
                    harness.turn()
                }
                let before = client.socket.received.count
                client.send(Array(bytes[..<end]))
                harness.settle()
                #expect(client.socket.received.count == before, "\(name) cut at \(end)")
                #expect(!client.socket.isClosed)
                harness.server.endInput(client.id)
                harness.turn()
                #expect(client.socket.isClosed, "\(name) cut at \(end)")
                #expect(try harness.tally("/visits").count == 0)
                #expect(harness.server.connectionCount == 0)
            }
        }
    }

    /// All frames that a whole conversation returns, sent in pieces of `size` bytes.
    private func conversation(inPiecesOf size: Int) -> [UInt8] {
        let harness = ServerHarness()
        let client = harness.connect()
        var stream = Self.frames().filter { $0.name != "goodbye" }.flatMap(\.bytes)
        stream += TestClient.frame(.dispatch, number: 2, Tally.Action.ask.wireBytes())
        stream += TestClient.frame(.dispatch, number: 3, [0xff])
        stream += TestClient.frame(.ping, number: 9)
        stream += TestClient.frame(.dispatch, number: 4, Tally.Action.add(by: 1).wireBytes())
        var start = 0
        while start < stream.count {
            let end = min(stream.count, start + size)
            client.send(Array(stream[start..<end]))
            start = end
        }
        harness.turn()
        return client.socket.received
    }

    // [WIRE-1-5] [WIRE-1-6]
    @Test("W2: one byte per read and everything in one read give the same answer, byte for byte")
    func split() {
        let whole = conversation(inPiecesOf: .max >> 1)
        #expect(whole.count > 400)
        for size in [1, 2, 3, 5, 7, 19, 20, 21, 64] {
            #expect(conversation(inPiecesOf: size) == whole, "pieces of \(size)")
        }
    }

    private func closing(
        afterHello: Bool = true, _ bytes: [UInt8],
        _ change: (inout ServerLimits) -> Void = { _ in }
    ) throws -> Closing? {
        let harness = ServerHarness(change: change)
        let client = harness.connect()
        if afterHello {
            client.hello()
            client.open("/visits")
            harness.turn()
        }
        client.send(bytes)
        harness.settle()
        let frames = client.frames(.closing)
        guard let frame = frames.first else {
            #expect(!client.socket.isClosed)
            return nil
        }
        #expect(frames.count == 1)
        #expect(client.socket.isClosed)
        #expect(try harness.tally("/visits").count == 0)
        #expect(harness.events.contains { if case .closedForFault = $0 { true } else { false } })
        return try frame.decode(Closing.self)
    }

    private func header(length: UInt32, kind: UInt8 = 4, flags: UInt8 = 0, reserved: UInt8 = 0)
        -> [UInt8]
    {
        (0..<4).map { UInt8(truncatingIfNeeded: length >> (8 * $0)) }
            + [kind, flags, reserved, 0] + [UInt8](repeating: 0, count: 12)
    }

    // [WIRE-2-2]
    @Test("W3: a frame of exactly the limit is read, and one byte more is refused from its header")
    func lengthLimit() throws {
        let limit = 1_000
        let refused = try closing(header(length: UInt32(limit + 1))) { $0.frameBytesMax = limit }
        #expect(refused?.code == .framing)
        #expect(refused?.message.contains("length 1001 exceeds frameBytesMax 1000") == true)
        let whole = header(length: UInt32(limit)) + [UInt8](repeating: 0, count: limit)
        #expect(try closing(whole) { $0.frameBytesMax = limit } == nil)
    }

    @Test("W4: extreme lengths are refused without a trap, zero is a frame without a body")
    func extremeLengths() throws {
        for length: UInt32 in [0xffff_ffff, 0x7fff_ffff, 0x8000_0000, 1 << 20 + 1] {
            #expect(try closing(header(length: length))?.code == .framing)
        }
        #expect(try closing(header(length: 0)) == nil)
        #expect(try closing(header(length: 0, kind: 1, flags: 0))?.code == .state)
    }

    // [WIRE-7-2]
    @Test("W4: the largest ordinals, confirmations and ids trap nothing", arguments: [0, 1, 2])
    func extremeNumbers(_ step: UInt64) throws {
        let harness = ServerHarness()
        let client = harness.client()
        let last = UInt64.max - step
        client.open("/visits")
        client.dispatch(Tally.Action.add(by: 1), ordinal: last)
        client.dispatch(Tally.Action.add(by: 1), ordinal: last)
        client.send(.confirm, number: .max)
        client.dispatch(Tally.Action.add(by: 1), ordinal: last)
        client.dispatch(Tally.Action.add(by: 1), ordinal: 0)
        client.send(.unsubscribe, id: .max)
        client.open("/visits", as: .max)
        harness.turn()
        #expect(try harness.tally("/visits").count == 1)
        let frames = client.frames()
        let log = try OutcomeLog(frames)
        #expect(log.outcomes[last]?.map(\.isApplied) == [true, true, false])
        #expect(log[last]?.code == "ORDINAL" && log[0]?.code == "ORDINAL")
        #expect(frames.contains { $0.kind == .refused })
    }

    // [WIRE-2-3]
    @Test("W5: a body that is longer or shorter than its value is an error, and ends there")
    func wrongLength() throws {
        let harness = ServerHarness()
        let client = harness.client()
        client.open("/visits")
        let add = Tally.Action.add(by: 5).wireBytes()
        client.send(.dispatch, number: 1, add + [0])
        client.send(.dispatch, number: 2, Array(add.dropLast()))
        client.send(.dispatch, number: 3, add)
        client.send(.open, id: 1, number: 9, Open(path: "/visits").wireBytes() + [0])
        harness.turn()
        let frames = client.frames()
        let log = try OutcomeLog(frames)
        #expect(log[1]?.code == "DECODE" && log[2]?.code == "DECODE")
        #expect(log[3]?.isApplied == true)
        #expect(try frames.last { $0.kind == .refused }?.decode(Refusal.self).code == .decode)
        #expect(try harness.tally("/visits").count == 5)
        for kind in [FrameKind.goodbye, .unsubscribe, .confirm, .ping] {
            let fault = try closing(TestClient.frame(kind, [0]))
            #expect(fault?.code == .framing, "\(kind) with a body")
        }
    }

    // [WIRE-2-6]
    @Test("W6: an unknown critical kind closes, an unknown ignorable one is skipped and counted")
    func unknownKind() throws {
        for kind: UInt8 in [0, 0x0b, 0x3f, 0x41, 0x7f] {
            #expect(try closing(header(length: 0, kind: kind))?.code == .framing)
        }
        let harness = ServerHarness()
        let client = harness.client()
        client.send(header(length: 3, kind: 0xfe) + [1, 2, 3])
        client.send(.ping, number: 5)
        harness.turn()
        #expect(client.frames(.pong).map(\.number) == [5])
        #expect(harness.server.statistics.framesIgnored == 1)
    }

    // [WIRE-4-2]
    @Test("W7: an action before hello and a second hello are STATE errors with their offset")
    func wrongState() throws {
        let add = TestClient.frame(.dispatch, number: 1, Tally.Action.add(by: 1).wireBytes())
        #expect(try closing(afterHello: false, add)?.code == .state)
        #expect(try closing(afterHello: false, Array(add.prefix(20)))?.code == .state)
        let hello = TestClient.frame(.hello, number: Hello.magic, Hello().wireBytes())
        let second = try closing(hello)
        let open = TestClient.frame(.open, number: 1, Open(path: "/visits").wireBytes())
        #expect(second?.code == .state)
        #expect(second?.offset == UInt64(hello.count + open.count))
    }

    @Test("W8: the server detects a foreign protocol within one read, and logs none of its bytes")
    func strangers() throws {
        let tls: [UInt8] = [0x16, 0x03, 0x01, 0x00, 0xf5, 0x01, 0x00, 0x00, 0xf1, 0x03]
        for stranger in [Array("GET / HTTP/1.1\r\n\r\n".utf8), Array("PING\r\n".utf8), tls] {
            for size in [stranger.count, 1] {
                let harness = ServerHarness()
                let client = harness.connect()
                for start in stride(from: 0, to: stranger.count, by: size) {
                    client.send(Array(stranger[start..<min(stranger.count, start + size)]))
                }
                harness.turn()
                #expect(client.socket.isClosed)
                for event in harness.events { #expect(!"\(event)".contains("HTTP")) }
            }
        }
        let wrongMagic = TestClient.frame(.hello, number: 1, Hello().wireBytes())
        #expect(try closing(afterHello: false, wrongMagic)?.code == .framing)
    }

    // [WIRE-2-6]
    @Test("W6: an ignorable frame before hello is skipped, even in pieces")
    func ignorableBeforeHello() throws {
        var stranger = TestClient.frame(.ping, [1, 2, 3])
        stranger[4] = 0x90
        for size in [stranger.count, 1] {
            let harness = ServerHarness()
            let client = harness.connect()
            for start in stride(from: 0, to: stranger.count, by: size) {
                client.send(Array(stranger[start..<min(stranger.count, start + size)]))
            }
            client.hello()
            harness.settle()
            #expect(client.frames().map(\.kind) == [.welcome])
            #expect(harness.server.statistics.framesIgnored == 1)
        }
    }

    // [WIRE-2-5]
    @Test("the server ignores a header field that a kind does not use")
    func unusedFields() throws {
        let harness = ServerHarness()
        let client = harness.connect()
        client.send(.hello, id: 9, number: Hello.magic, Hello().wireBytes())
        client.send(.ping, id: 8, number: 4)
        client.send(.confirm, id: 7)
        client.send(.unsubscribe, id: 6, number: 5)
        client.send(.ask, id: 5, number: 6, Question.tree.wireBytes())
        client.send(.goodbye, id: 4, number: 3)
        harness.settle()
        let frames = client.frames()
        #expect(frames.map(\.kind) == [.welcome, .pong, .answer])
        #expect(frames.map(\.id) == [0, 0, 0])
    }

    @Test("W8: an ignorable kind with flags is a foreign protocol, recognised at its sixth byte")
    func strangerWithFlags() {
        let harness = ServerHarness()
        let client = harness.connect()
        for byte in header(length: 3, kind: 0x90, flags: 1).prefix(6) {
            #expect(!client.socket.isClosed)
            client.send([byte])
            harness.settle()
        }
        #expect(client.socket.isClosed)
    }

    // [WIRE-4-4]
    @Test("a hello with a session of another length than 16 bytes is a DECODE error")
    func sessionLength() throws {
        for count in [0, 15, 17] {
            let hello = Hello(session: [UInt8](repeating: 7, count: count), epoch: 7)
            let frame = TestClient.frame(.hello, number: Hello.magic, hello.wireBytes())
            let fault = try closing(afterHello: false, frame)
            #expect(fault?.code == .decode)
            #expect(fault?.message == "hello: session: \(count) bytes, expected 16")
        }
    }

    // [WIRE-4-1]
    @Test("W9: an unknown version is answered with the range, a range with a known one is welcome")
    func versions() throws {
        func hello(_ range: ClosedRange<UInt16>) -> [UInt8] {
            let hello = Hello(versionMin: range.lowerBound, versionMax: range.upperBound)
            return TestClient.frame(.hello, number: Hello.magic, hello.wireBytes())
        }
        let refused = try closing(afterHello: false, hello(2...9))
        #expect(refused?.code == .version)
        #expect(refused?.versionMin == 1 && refused?.versionMax == 1)
        #expect(try closing(afterHello: false, hello(0...0))?.code == .version)
        #expect(try closing(afterHello: false, hello(0...9)) == nil)
    }

    // [WIRE-2-3]
    @Test("W20: reserved bits, unknown flags and flags of other kinds are refused")
    func reservedBits() throws {
        #expect(try closing(header(length: 0, flags: 0x80))?.code == .framing)
        #expect(try closing(header(length: 0, reserved: 1))?.code == .framing)
        #expect(try closing(TestClient.frame(.ping, flags: .options))?.code == .framing)
        #expect(try closing(TestClient.frame(.dispatch, flags: .more))?.code == .framing)
    }

    // [WIRE-2-2]
    @Test("W20: an impossible header is refused before its body, even if it arrives in pieces")
    func reservedBitsInPieces() throws {
        let harness = ServerHarness()
        let client = harness.client()
        for byte in header(length: 1_000, flags: 0x80) { client.send([byte]) }
        harness.turn()
        #expect(client.frames(.closing).count == 1)
    }

    // [WIRE-2-4]
    @Test("a fault names the byte of the stream at which it is")
    func offset() throws {
        let ping = TestClient.frame(.ping)
        let before =
            TestClient.frame(.hello, number: Hello.magic, Hello().wireBytes()).count
            + TestClient.frame(.open, number: 1, Open(path: "/visits").wireBytes()).count
            + ping.count
        let fault = try closing(ping + header(length: 0, kind: 0x7f))
        #expect(fault?.offset == UInt64(before))
        #expect(fault?.message.contains("frame at byte \(before)") == true)
        for bad in [
            header(length: 0, flags: 0x80), header(length: 0, reserved: 1),
            TestClient.frame(.ping, flags: .options), header(length: .max),
        ] {
            let fault = try closing(ping + bad)
            #expect(fault?.offset == UInt64(before), "where the frame starts")
            #expect(fault?.message.contains("frame at byte \(before)") == true)
        }
    }

    @Test("W21: a hello is awaited for 5 s, a begun frame for 30 s, and not a tick less")
    func slowloris() throws {
        let second: UInt64 = 1_000_000_000
        let harness = ServerHarness()
        let (silent, slow) = (harness.connect(), harness.client())
        let ping = TestClient.frame(.ping)
        slow.send([ping[0]])
        for elapsed in 1...30 as ClosedRange<UInt64> {
            harness.now += second
            if elapsed < 20 { slow.send([ping[Int(elapsed)]].dropLast(elapsed == 19 ? 1 : 0)) }
            harness.server.tick(at: harness.now)
            harness.settle()
            #expect(silent.socket.isClosed == (elapsed >= 5))
            #expect(slow.socket.isClosed == (elapsed >= 30))
        }
        #expect(try slow.frames(.closing)[0].decode(Closing.self).code == .timeout)
        #expect(try silent.frames(.closing)[0].decode(Closing.self).code == .timeout)
    }

    @Test("P74: after a suspension, the server reads frames in progress before it checks deadlines")
    func stopped() throws {
        let harness = ServerHarness()
        let (silent, slow) = (harness.connect(), harness.client())
        let ping = TestClient.frame(.ping)
        slow.send([ping[0]])
        harness.now += 60_000_000_000
        harness.server.tick(at: harness.now, isLate: true)
        harness.settle()
        slow.send(Array(ping[1...]))
        harness.now += 1_000_000_000
        harness.server.tick(at: harness.now)
        harness.settle()
        #expect(!slow.socket.isClosed)
        #expect(silent.socket.isClosed)
    }

    @Test("W8: repeated foreign connections cost one log line in ten seconds, and are all counted")
    func logRate() throws {
        let harness = ServerHarness()
        func knock(pid: Int32) {
            let client = harness.connect(pid: pid)
            client.send(Array("GET / HTTP/1.1\r\n\r\n".utf8))
            harness.settle()
            #expect(client.socket.isClosed)
        }
        for _ in 0..<300 { knock(pid: 7) }
        #expect(harness.events.count == 1)
        knock(pid: 8)
        #expect(harness.events.count == 2)
        harness.now += harness.server.limits.logInterval
        knock(pid: 7)
        let leftOut = harness.events.compactMap {
            if case .closedForFault(_, _, _, _, let count) = $0 { count } else { nil }
        }
        #expect(leftOut == [0, 299, 0])
        #expect(harness.server.statistics.faults == 302)
        #expect(harness.server.statistics.eventsLeftOut == 299)
    }
}
