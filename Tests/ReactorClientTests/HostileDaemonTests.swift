import ReactorCore
import ReactorServer
import StockReactors
import Testing

@testable import ReactorClient

/// A peer that is no daemon, or a daemon that sends nonsense.
@Suite("Hostile daemon", .timeLimit(.minutes(10)))
struct HostileDaemonTests {
    private typealias Counter = StockReactors.Counter

    private func welcome(_ change: (inout Welcome) -> Void = { _ in }) -> Frame {
        var welcome = Welcome(
            version: 1, daemon: "mad", epoch: 7, sequence: 0,
            session: [UInt8](repeating: 1, count: 16), isResumed: false, client: 1, ordinal: 0,
            limits: Welcome.Limits(
                frameBytesMax: 1 << 20, inFlightMax: 16, nodesMax: 16, subscriptionsMax: 16))
        change(&welcome)
        return Frame(.welcome, welcome.wireBytes())
    }

    /// The error of a client that connects to a peer which sends `bytes`.
    private func error(
        from bytes: [UInt8], _ options: ClientOptions = ClientOptions()
    ) async throws -> ClientError? {
        let server = try RawServer(bytes)
        do throws(ClientError) {
            _ = try await Client.connect(to: server.path, options: options)
            return nil
        } catch {
            return error
        }
    }

    @Test("C94: bytes that are no frames are a protocol error", arguments: 0..<10)
    func garbage(_ seed: Int) async throws {
        var random = Seed(UInt64(seed))
        let bytes = (0..<4_096).map { _ in UInt8.random(in: .min ... .max, using: &random) }
        guard case .daemonFault(let text) = try await error(from: bytes) else {
            Issue.record("seed \(seed) was taken for a daemon")
            return
        }
        #expect(!text.isEmpty)
    }

    @Test("C94: a frame longer than frameBytesMax is refused from its header")
    func longFrame() async throws {
        var header = FrameHeader(kind: .welcome)
        header.length = UInt32(WireLimits.daemonFrameBytesMax) + 1
        var writer = WireWriter()
        writer.header(header)
        guard case .daemonFault(let text) = try await error(from: writer.bytes) else {
            Issue.record("a frame of more than 8 MiB was waited for")
            return
        }
        #expect(text.contains("frameBytesMax"))
    }

    @Test("C94: the client gives up a silent daemon after the deadline")
    func silence() async throws {
        var options = ClientOptions()
        options.handshakeDeadline = 1_000_000
        let text = "no welcome within the handshake deadline"
        #expect(try await error(from: [], options) == .unanswered(text))
    }

    @Test("C94: an unreadable welcome, or one of another version, is an error")
    func wrongWelcome() async throws {
        let later = welcome { $0.version = 2 }
        for bytes in [Frame(.welcome, [0x61]).bytes, later.bytes, Frame(.pong).bytes] {
            guard case .daemonFault = try await error(from: bytes) else {
                Issue.record("\(bytes) was taken for a welcome")
                return
            }
        }
    }

    @Test("C94: the reason of a daemon that closes is the client's error")
    func closing() async throws {
        let frame = Frame(.closing, Closing(.version, "versions 3 to 4").wireBytes())
        #expect(try await error(from: frame.bytes) == .closed(.version, "versions 3 to 4"))
        let odd = Frame(.closing, [0xff])
        #expect(
            try await error(from: odd.bytes)
                == .closed(.framing, "the daemon gave no readable reason"))
    }

    @Test("C94: the client leaves a daemon that announces its end, even if it does not close")
    func closingForGood() throws {
        let rig = Rig()
        let client = rig.client()
        let mirror = try client.mirror("/visits", rig)
        var frame = Frame(.closing, Closing(.busy, "try later").wireBytes())
        rig.forge(frame.bytes, to: client)
        rig.run()
        #expect(client.connectCount == 2 && mirror.phase == .live)
        frame = Frame(.closing, Closing(.decode, "no").wireBytes())
        rig.forge(frame.bytes, to: client)
        rig.run()
        #expect(mirror.phase == .failed(.closed(.decode, "no")))
    }

    @Test("C94: a client works even with limits of zero")
    func noLimits() throws {
        let machine = ClientMachine { 0 }
        machine.start()
        machine.connected()
        let greeting = welcome {
            $0.limits = Welcome.Limits(
                frameBytesMax: 0, inFlightMax: 0, nodesMax: 0, subscriptionsMax: 0)
        }
        machine.receive(greeting.bytes.span)
        #expect(machine.phase == .live)
        machine.open("/visits") { _ in }
        #expect(throws: ClientError.tooLarge(byteCount: 1, bytesMax: 0)) {
            try machine.submit(OutgoingAction(encoded: [0xf6], to: NodeID(rawValue: 0)))
        }
    }
}

// MARK: - After the handshake
extension HostileDaemonTests {
    /// A client that waits for every kind of answer of a daemon.
    private func busyClient(_ rig: Rig) throws -> Rig.Joined {
        var options = ClientOptions()
        options.keepsTrying = true
        let client = rig.client(options)
        let node = try client.open("/visits", rig)
        let other = try client.open("/other", rig)
        for path in ["/visits", "/other"] {
            client.machine.mirror(Counter.self, at: path) { _ in }
            let feed = WatchFeed(onEnd: {})
            client.machine.follow(path, .value, WatchSink(1, feed))
        }
        for number in 0..<20 {
            try client.machine.dispatch(
                Counter.Action.increment(by: 1), to: number % 2 == 0 ? node : other)
        }
        client.machine.ask(.tree) { _ in }
        client.machine.ping { _ in }
        return client
    }

    /// Checks that a client works again after it received nonsense.
    private func check(_ client: Rig.Joined, _ rig: Rig, _ seed: UInt64) throws {
        client.onDown = nil
        rig.cut(client)
        rig.run()
        guard client.machine.phase == .live else {
            // The nonsense may happen to be a frame that closes the connection for good.
            guard case .failed(.closed) = client.machine.phase else {
                Issue.record("seed \(seed): \(client.machine.phase)")
                return
            }
            return
        }
        var isAnswered = false
        client.machine.ping { result in isAnswered = (try? result.get()) != nil }
        rig.run()
        #expect(isAnswered, "seed \(seed)")
    }

    @Test(
        "C94: errors in a stream never stop a client", arguments: 0..<150 as Range<UInt64>)
    func corrupted(_ seed: UInt64) throws {
        var random = Seed(seed)
        let rig = Rig()
        let client = try busyClient(rig)
        var errors = 12
        client.onDown = { frames in
            var bytes = frames.bytes
            guard errors > 0, !bytes.isEmpty, Bool.random(using: &random) else { return bytes }
            errors -= 1
            let index = Int.random(in: bytes.indices, using: &random)
            switch Int.random(in: 0..<5, using: &random) {
            case 0: bytes[index] ^= 1 << UInt8.random(in: 0..<8, using: &random)
            case 1: bytes[index] = UInt8.random(in: .min ... .max, using: &random)
            case 2: bytes.remove(at: index)
            case 3: bytes.insert(UInt8.random(in: .min ... .max, using: &random), at: index)
            default: bytes.append(contentsOf: bytes[index...])
            }
            return bytes
        }
        rig.run()
        try check(client, rig, seed)
    }

    @Test("C94: random frames never stop a client", arguments: 0..<150 as Range<UInt64>)
    func senseless(_ seed: UInt64) throws {
        var random = Seed(seed)
        let rig = Rig()
        let client = try busyClient(rig)
        rig.run()
        for _ in 0..<40 {
            guard case .live = client.machine.phase else { break }
            rig.forge(frame(&random).bytes, to: client)
            rig.run()
        }
        try check(client, rig, seed)
    }

    private func frame(_ random: inout Seed) -> Frame {
        let kinds = FrameKind.allCases.filter { $0.rawValue >= 0x41 && $0 != .closing }
        let bodies: [[UInt8]] = [
            [], [0], [1], [0x1b] + [UInt8](repeating: 0xff, count: 8), [0x82, 0, 0], [0xa0], [0xf6],
            [0x82, 0, 0, 0xa1, 0x65, 0x61, 0x64, 0x64, 0x65, 0x64, 1],
            [0xa1, 0x65, 0x63, 0x6f, 0x75, 0x6e, 0x74, 5],
            Subscribed(start: .snapshot, reactor: "Counter", fingerprint: 1, sequence: 1)
                .wireBytes(),
            Subscribed(start: .deltas, reactor: "Counter", fingerprint: 1, sequence: 1).wireBytes(),
            Refusal(.notFound, "no").wireBytes(),
            Outcome.rejected(code: "no", message: "no").wireBytes(),
            Outcome.applied(sequence: .max).wireBytes(),
        ]
        let numbers: [UInt64] = [0, 1, 2, 3, 5, 10, 20, 21, 22, 30, .max - 1, .max]
        let ids: [UInt32] = [0, 1, 2, 3, 20, 1 << 31, 1 << 31 + 1, .max]
        let flags: [FrameFlags] = [[], [], [], .more, .absent, .fresh, .structural, .options]
        var frame = Frame(
            kinds.randomElement(using: &random) ?? .mark,
            id: ids.randomElement(using: &random) ?? 0,
            number: numbers.randomElement(using: &random) ?? 0,
            bodies.randomElement(using: &random) ?? [])
        frame.header.flags = flags.randomElement(using: &random) ?? []
        return frame
    }
}
