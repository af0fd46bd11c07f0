import ReactorClient
import ReactorWire
import StockReactors
import TestPrograms
import Testing

/// Reconnecting clients that missed more than the daemon has in memory.
@Suite("Missed updates from the journal", .timeLimit(.minutes(10)))
struct MissedReaderTests {
    /// A delta that a client received.
    private struct Delta: Equatable {
        var sequence: UInt64
        var body: [UInt8]
    }

    private let home = TestDirectory()

    private func start() async throws -> DaemonProcess {
        try await DaemonProcess.start(
            config: "data:\n  directory: \(home.path("data"))\n  durability: relaxed\n"
                + "limits:\n  ringBytesMax: 16KiB\nreactors:\n  visits: { kind: counter }\n",
            in: home)
    }

    /// Connects and subscribes to the counter's mutations, optionally from a revision on; returns
    /// the daemon's epoch and the start of the subscription.
    private func subscribe(
        to daemon: DaemonProcess, from revision: Revision? = nil
    ) throws -> (socket: RawSocket, epoch: UInt64, start: Subscribed.Start) {
        let socket = try #require(RawSocket(daemon.socketPath))
        socket.send(RawSocket.hello)
        let welcome = try Welcome(wireBytes: #require(socket.frame()).body)
        var writer = WireWriter()
        let frame = writer.beginFrame(.subscribe, number: 1)
        Subscribe(path: "/visits", mode: .replica, from: revision).encode(into: &writer)
        writer.endFrame(at: frame)
        socket.send(writer.bytes)
        let answer = try #require(socket.frame())
        #expect(answer.kind == .subscribed)
        return (socket, welcome.epoch, try Subscribed(wireBytes: answer.body).start)
    }

    /// Reads frames until a mark of this sequence or a later one; returns their kinds, and the
    /// deltas.
    private func take(
        _ socket: RawSocket, upTo sequence: UInt64
    ) throws -> (kinds: Set<FrameKind?>, deltas: [Delta]) {
        var kinds: Set<FrameKind?> = []
        var deltas: [Delta] = []
        while true {
            let (header, body) = try #require(socket.wholeFrame())
            let kind = FrameKind(rawValue: header.kind)
            if kind == .mark, header.number >= sequence { return (kinds, deltas) }
            kinds.insert(kind)
            if kind == .delta { deltas.append(Delta(sequence: header.number, body: body)) }
        }
    }

    @Test(
        "deltas no longer in memory come from the journal, equal to those that others received",
        arguments: [false, true])
    func resumes(isRestarted: Bool) async throws {
        var daemon = try await start()
        let live = try subscribe(to: daemon)
        #expect(live.start == .snapshot)
        let client = try await Client.connect(to: daemon.socketPath)
        for amount in 1...200 {
            let action = Counter.Action.increment(by: Int64(amount))
            let outcome = try await client.dispatch("/visits", action)
            #expect(outcome.revision?.sequence == UInt64(amount))
        }
        client.close()
        let seen = try take(live.socket, upTo: 200).deltas
        #expect(seen.map(\.sequence) == Array(1...200))
        if isRestarted {
            await daemon.kill9()
            daemon = try await start()
        }
        for sequence: UInt64 in [0, 20, 199] {
            let back = try subscribe(
                to: daemon, from: Revision(epoch: live.epoch, sequence: sequence))
            #expect(back.epoch == live.epoch)
            #expect(back.start == .deltas, "behind \(sequence)")
            let (kinds, missed) = try take(back.socket, upTo: 200)
            #expect(missed == Array(seen[Int(sequence)...]), "behind \(sequence)")
            #expect(kinds.isSubset(of: [.delta, .mark]), "\(kinds)")
        }
        #expect(await daemon.stop() == .exited(0))
    }
}
