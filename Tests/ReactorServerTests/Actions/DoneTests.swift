import ReactorCore
import ReactorWire
import Testing

@testable import ReactorServer

/// Actions whose client awaits the end of their effects. The effects run until they are cancelled:
/// no executor carries them out.
struct DoneTests {
    private let harness = ServerHarness()
    private static let work = DispatchOptions(cancel: "work")

    private func start(
        _ harness: ServerHarness? = nil, session: [UInt8]? = nil
    ) throws -> (TestClient, Welcome) {
        let client = (harness ?? self.harness).client(session: session)
        let welcome = try #require(client.frames(.welcome).first).decode(Welcome.self)
        client.open("/visits")
        client.harness.turn()
        _ = client.frames()
        return (client, welcome)
    }

    /// The frames that a client received, as a kind and an ordinal each.
    private func told(_ client: TestClient) -> [String] {
        client.harness.settle()
        return client.frames().filter { $0.kind != .opened }
            .map { "\($0.kind.map { "\($0)" } ?? "?") \($0.number)" }
    }

    @Test("F47: without effects, done follows the outcome, whatever that is")
    func atOnce() throws {
        let (client, _) = try start()
        client.add()
        client.perform(.add(by: 1), 2)
        client.perform(.ask, 3)
        client.perform(.refuse(text: "no"), 4)
        client.perform(.add(by: 1), 5, to: 9)
        client.send(.dispatch, flags: .awaited, number: 6, [0xff])
        #expect(
            told(client) == [
                "applied 1", "done 2", "outcome 3", "done 3", "outcome 4", "done 4", "outcome 5",
                "done 5", "outcome 6", "done 6",
            ])
        #expect(harness.server.memory.awaitedOfOne == 0)
    }

    @Test("F47: done waits for the action's effects, and a cancelled one has ended")
    func cancelled() throws {
        let (client, _) = try start()
        client.perform(.work(by: 1), 1, Self.work)
        client.perform(.work(by: 1), 2)
        #expect(told(client) == ["applied 1"])
        #expect(harness.server.memory.awaitedOfOne == 2)
        client.send(.dispatch, flags: .options, number: 3, Self.work.wireBytes())
        #expect(told(client) == ["applied 3", "done 1"])
        #expect(harness.server.memory.awaitedOfOne == 1)
    }

    @Test("F47: a batch is done when the effects of all its actions have ended")
    func batch() throws {
        let (client, _) = try start()
        let pair = WireEmbedded(Tally.Action.work(by: 1))
        var writer = WireWriter()
        Self.work.encode(into: &writer)
        writer.array(count: 2)
        for _ in 0..<2 {
            writer.array(count: 2)
            writer.unsigned(0)
            pair.encode(into: &writer)
        }
        client.send(.batch, flags: [.options, .awaited], number: 1, writer.bytes)
        #expect(told(client) == ["applied 1"])
        client.send(.batch, flags: .awaited, number: 2, [0x80])
        client.send(.batch, flags: .awaited, number: 3, [0x00])
        #expect(told(client) == ["applied 2", "done 2", "outcome 3", "done 3"])
        client.send(.dispatch, flags: .options, number: 4, Self.work.wireBytes())
        #expect(told(client) == ["applied 4", "done 1"])
    }

    @Test("F47: an owed answer comes before done")
    func deferred() throws {
        let (client, _) = try start()
        client.perform(.wait, 1)
        #expect(told(client) == [])
        client.dispatch(Tally.Action.grant(value: 5), ordinal: 2)
        #expect(told(client) == ["applied 2", "outcome 1", "done 1"])
    }

    @Test("F47: a reconnected client waits for effects that still run, and gets done for others")
    func comesBack() throws {
        let (client, welcome) = try start()
        client.perform(.work(by: 1), 1, Self.work)
        client.perform(.work(by: 1), 2)
        client.perform(.add(by: 1), 3)
        #expect(told(client) == ["applied 1", "done 3"])
        client.disconnect()
        let (back, _) = try start(session: welcome.session)
        // Without the outcome on this connection, the client could not interpret a `done`.
        back.send(.dispatch, flags: .options, number: 4, Self.work.wireBytes())
        #expect(told(back) == ["applied 4"])
        back.perform(.work(by: 1), 1, Self.work)
        back.perform(.work(by: 1), 2)
        back.perform(.add(by: 1), 3)
        #expect(told(back) == ["outcome 1", "done 1", "outcome 2", "outcome 3", "done 3"])
        #expect(harness.server.memory.awaitedOfOne == 1)
    }

    @Test("R108: after a restart, a client that awaits effects learns of their loss, then done")
    func lost() throws {
        let harness = try ServerHarness.keeping()
        let (client, welcome) = try start(harness)
        client.perform(.work(by: 1), 1, Self.work)
        client.perform(.refuse(text: "no"), 2)
        #expect(told(client) == ["applied 1", "outcome 2", "done 2"])
        let (back, _) = try start(try harness.restarted(), session: welcome.session)
        back.perform(.work(by: 1), 1, Self.work)
        back.perform(.refuse(text: "no"), 2)
        back.perform(.work(by: 1), 3)
        #expect(
            told(back) == ["outcome 1", "notice 1", "done 1", "outcome 2", "done 2", "applied 3"])
    }

    @Test("F47: an answer that no connection received is repeated, then done")
    func endedAnswer() throws {
        let (client, welcome) = try start()
        client.perform(.wait, 1)
        #expect(told(client) == [])
        client.disconnect()
        let (back, _) = try start(session: welcome.session)
        back.perform(.wait, 1)
        #expect(told(back) == ["outcome 1", "done 1"])
    }

    // [WIRE-7-8]
    @Test("F47: a session has at most inFlightMax awaited actions; other actions go on")
    func quota() throws {
        let harness = ServerHarness { $0.inFlightMax = 3 }
        let (client, _) = try start(harness)
        for ordinal in 1...3 as ClosedRange<UInt64> { client.perform(.work(by: 1), ordinal) }
        #expect(told(client) == ["applied 1"])
        client.perform(.add(by: 1), 4)
        client.dispatch(Tally.Action.add(by: 1), ordinal: 5)
        harness.turn()
        let frames = client.frames()
        #expect(frames.map(\.kind) == [.outcome, .done, .applied])
        #expect(try frames[0].decode(Outcome.self).code == FaultCode.quota.rawValue)
    }

    @Test("F47: a client that only receives is kept until its effects have ended")
    func halfClosed() throws {
        let (client, welcome) = try start()
        client.perform(.work(by: 1), 1, Self.work)
        harness.server.endInput(client.id)
        harness.settle()
        #expect(told(client) == ["applied 1"])
        let node = try #require(harness.server.tree.node(at: try SlicePath("/visits")))
        let caller = Caller(connection: 0, client: welcome.client, uid: 0, gid: 0, pid: 0)
        harness.server.perform { tree in
            let nothing = Tally.Action.nothing.wireBytes()
            _ = tree.dispatch(
                to: node, nothing.span, from: 0, by: caller, ordinal: 0, cancel: "work")
        }
        #expect(told(client) == ["done 1"])
        #expect(client.socket.isClosed)
    }
}

extension TestClient {
    /// Dispatches an action, and asks for a notice of the end of its effects.
    func perform(
        _ action: Tally.Action, _ ordinal: UInt64, _ options: DispatchOptions? = nil,
        to id: UInt32 = 0
    ) {
        let flags: FrameFlags = options == nil ? .awaited : [.awaited, .options]
        let body = (options?.wireBytes() ?? []) + action.wireBytes()
        send(.dispatch, flags: flags, id: id, number: ordinal, body)
    }
}
