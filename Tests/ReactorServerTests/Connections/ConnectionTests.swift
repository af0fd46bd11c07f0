import ReactorBytes
import ReactorCore
import ReactorWire
import Testing

@testable import ReactorServer

/// Rows W22 to W26 and W32: clients that do not read, and their cost.
struct ConnectionTests {
    private func start(_ harness: ServerHarness) -> TestClient {
        let client = harness.client()
        client.open("/visits")
        client.open("/page", as: 2)
        harness.turn()
        _ = client.frames()
        return client
    }

    private func cost(_ harness: ServerHarness, _ client: TestClient) -> Int {
        guard let connection = harness.server.connections[client.id] else { return 0 }
        // A segment keeps its whole buffer alive, so the buffer is counted.
        return connection.keptBytes + client.socket.waitingBytes
    }

    // [WIRE-8-4] [WIRE-8-11]
    @Test(
        "W24, W25: a subscriber that never reads costs its budget, and converges when it reads",
        arguments: [SubscriptionMode.replica, .value])
    func neverReads(_ mode: SubscriptionMode) throws {
        let budget = 32 << 10
        let harness = ServerHarness {
            $0.queueBytesMax = budget
            $0.writeBytesMax = 8 << 10
        }
        let (writer, reader, healthy) = (start(harness), start(harness), start(harness))
        var (mirror, other) = (PlainMirror(), PlainMirror())
        for path in ["/visits", "/page"] { reader.follow(path, mode, in: &mirror) }
        healthy.follow("/visits", in: &other)
        harness.turn()
        try mirror.take(reader.frames())
        reader.socket.room = 0
        var worst = 0
        for round in 0..<700 {
            writer.add(round)
            writer.dispatch(Page.Action.body("round \(round)"), to: 2)
            harness.turn()
            harness.server.tick(at: harness.now)
            harness.settle()
            worst = max(worst, cost(harness, reader))
        }
        #expect(worst < 2 * budget + (16 << 10), "\(worst) bytes")
        #expect(harness.server.statistics.conflations > 0)
        #expect(!reader.socket.isClosed)
        try other.take(healthy.frames())
        #expect(try other.tally("/visits") == harness.tally("/visits"))
        // One byte at a time, then everything at once.
        for _ in 0..<500 { reader.take(1) }
        try mirror.take(reader.frames())
        reader.take()
        harness.settle()
        try mirror.take(reader.frames())
        #expect(mirror.lags > 0)
        #expect(mirror.markedSequence == harness.server.tree.revision.sequence)
        if mode == .replica {
            #expect(try mirror.tally("/visits") == harness.tally("/visits"))
            #expect(mirror.page("/page")?.body == "round 699")
        } else {
            #expect(try mirror.value("/visits") == harness.value("/visits"))
            #expect(try mirror.value("/page") == harness.value("/page"))
        }
    }

    @Test("W24: a subscriber of an idle slice that never reads does not collect marks")
    func marks() throws {
        let harness = ServerHarness { $0.queueBytesMax = 4 << 10 }
        let (writer, reader) = (start(harness), start(harness))
        reader.subscribe("/page")
        harness.turn()
        reader.socket.room = 0
        for _ in 0..<300 {
            writer.add(1)
            reader.send(.ping)
            harness.turn()
            harness.server.tick(at: harness.now)
            harness.settle()
        }
        #expect(cost(harness, reader) < 600 << 10)
        let connection = try #require(harness.server.connections[reader.id])
        #expect(connection.outlet.value.updateByteCount <= 8 << 10)
    }

    @Test("W24: a new slice of a slow connection is not starved by the traffic of another")
    func newSliceOfSlow() throws {
        let harness = ServerHarness()
        let (writer, reader) = (start(harness), start(harness))
        var mirror = PlainMirror()
        reader.follow("/visits", in: &mirror)
        harness.turn()
        reader.socket.room = 0
        for round in 0..<50 {
            writer.add(1)
            if round == 10 { reader.follow("/page", in: &mirror) }
            harness.turn()
            // All of one write, and nothing of the next: the reader is never idle.
            reader.take(reader.socket.waitingBytes)
        }
        try mirror.take(reader.frames())
        #expect(mirror.page("/page") != nil)
    }

    // [WIRE-12-4]
    @Test(
        "W23: a client that sends and never reads is read up to its outcomes' budget"
    )
    func neverReadsOutcomes() throws {
        let harness = ServerHarness { $0.undrainedBytesMax = 8 << 10 }
        let client = start(harness)
        client.socket.room = 0
        var rounds = 0
        while !client.socket.isPaused, rounds < 10_000 {
            client.dispatch(Tally.Action.ask)
            harness.turn()
            rounds += 1
        }
        #expect(client.socket.isPaused && rounds < 300)
        #expect(cost(harness, client) < 64 << 10)
        client.take()
        harness.settle()
        #expect(!client.socket.isPaused)
        let log = try OutcomeLog(client.frames())
        #expect(log.outcomes.count == rounds)
    }

    // [WIRE-12-4]
    @Test("W23: within one read, no action beyond the budget is answered before the client reads")
    func amplification() throws {
        let harness = ServerHarness()
        let (writer, client) = (start(harness), start(harness))
        writer.dispatch(Page.Action.fill(count: 100_000), to: 2)
        harness.turn()
        client.socket.room = 0
        let ask = TestClient.frame(.ask, number: 1, Question.get(path: "/page/body").wireBytes())
        client.send((0..<50).flatMap { _ in ask })
        harness.settle()
        #expect(client.socket.isPaused)
        #expect(cost(harness, client) < 500_000)
        client.take()
        harness.settle()
        let whole = client.frames(.answer).filter { !$0.flags.contains(.more) }
        #expect(whole.count == 50)
        #expect(!client.socket.isPaused)
    }

    @Test("W22: a client that half-closes behind more than the budget still gets every answer")
    func halfCloseHeld() throws {
        let harness = ServerHarness { $0.undrainedBytesMax = 1 << 10 }
        let client = start(harness)
        client.socket.room = 0
        for _ in 0..<200 { client.dispatch(Tally.Action.ask) }
        harness.server.endInput(client.id)
        harness.settle()
        #expect(!client.socket.isClosed)
        client.take()
        harness.settle()
        #expect(try OutcomeLog(client.frames()).outcomes.count == 200)
        #expect(client.socket.isClosed)
    }

    @Test("W22: a full close with answers pending frees everything")
    func fullClose() throws {
        let harness = ServerHarness()
        harness.appendsAtOnce = false
        let client = start(harness)
        client.subscribe("/visits")
        client.add(1)
        client.socket.room = 0
        harness.turn()
        client.add(1)
        client.disconnect()
        harness.turn()
        harness.append()
        #expect(harness.server.connections.isEmpty)
        let hasUnreleased = harness.server.memory.unreleasedBytes > 0
        #expect(!hasUnreleased)
        #expect(harness.server.memory.slices == 0)
        #expect(try harness.tally("/visits").count == 2)
    }

    @Test("W26: of a million pipelined actions only a window is run before outcomes leave")
    func pipelining() throws {
        let harness = ServerHarness { $0.inFlightMax = 100 }
        harness.appendsAtOnce = false
        let client = start(harness)
        harness.append()
        for _ in 0..<1_000 { client.add(1) }
        harness.turn()
        #expect(client.socket.isPaused)
        #expect(try harness.tally("/visits").count == 101)
        var turns = 0
        while harness.server.needsTurn || client.socket.isPaused, turns < 100 {
            harness.append()
            harness.turn()
            turns += 1
        }
        harness.append()
        #expect(try harness.tally("/visits").count == 1_000)
        #expect(try OutcomeLog(client.frames()).outcomes.count == 1_000)
    }

    @Test("W26: actions that all wait for an answer do not stop the reading forever")
    func deferredWindow() throws {
        let harness = ServerHarness { $0.inFlightMax = 4 }
        let client = start(harness)
        for _ in 0..<6 { client.dispatch(Tally.Action.wait) }
        harness.settle()
        #expect(!client.socket.isPaused)
        client.send(.ping, number: 3)
        harness.settle()
        #expect(client.frames(.pong).count == 1)
    }

    @Test("W32: a flood of pings is answered, until its client takes no answers")
    func pings() throws {
        let harness = ServerHarness()
        let client = start(harness)
        client.socket.room = 0
        let flood = (0..<5_000).flatMap { _ in TestClient.frame(.ping, number: 1) }
        client.send(flood)
        harness.turn()
        #expect(client.socket.isPaused)
        client.take()
        harness.settle()
        #expect(client.frames(.pong).count == 5_000)
        for _ in 0..<500 { client.send(.dispatch) }
        harness.settle()
        #expect(!client.socket.isClosed)
        #expect(try harness.tally("/visits").count == 0)
    }

    /// Sends frames that need several turns, and another client's ping in each turn, which must be
    /// answered. Returns the number of turns.
    private func turns(_ frames: [UInt8], of count: Int, _ harness: ServerHarness) throws -> Int {
        let (client, other) = (start(harness), start(harness))
        let before = harness.server.statistics.framesIgnored
        client.send((0..<count).flatMap { _ in frames })
        #expect(harness.server.needsTurn)
        var turns = 0
        repeat {
            turns += 1
            other.send(.ping, number: UInt64(turns))
            harness.turn()
            #expect(other.frames(.pong).map(\.number) == [UInt64(turns)])
            #expect(harness.server.statistics.framesIgnored - before <= UInt64(turns * 100))
        } while harness.server.needsTurn && turns < 1_000
        #expect(!harness.server.hasHeldInput)
        #expect(!client.socket.isPaused && !client.socket.isClosed)
        let connection = try #require(harness.server.connections[client.id])
        let hasInput = !connection.inlet.value.isEmpty
        #expect(!hasInput)
        return turns
    }

    @Test("W32: each turn handles a share of a flood of ignorable frames, and other clients go on")
    func ignorable() throws {
        let harness = ServerHarness { $0.framesPerTurnMax = 100 }
        var frame = TestClient.frame(.ping)
        frame[4] = 0xff
        #expect(try turns(frame, of: 1_000, harness) >= 10)
        #expect(harness.server.statistics.framesIgnored == 1_000)
    }

    @Test("W32: frames without an answer, of length zero, and repeated actions count as well")
    func unanswered() throws {
        let harness = ServerHarness { $0.framesPerTurnMax = 100 }
        for frame in [
            TestClient.frame(.confirm), TestClient.frame(.unsubscribe, id: 9),
            TestClient.frame(.dispatch, number: 0),
        ] {
            #expect(try turns(frame, of: 1_000, harness) >= 10)
        }
    }

    @Test("W32: new actions do not count: a run of them is handled in one turn")
    func actionsDoNotCount() throws {
        let harness = ServerHarness { $0.framesPerTurnMax = 4 }
        let client = start(harness)
        for _ in 0..<10 { client.add(1) }
        #expect(try harness.tally("/visits").count == 10)
        #expect(!harness.server.hasHeldInput)
    }

    @Test("W32: actions behind a flood of the same client wait, and are applied in order")
    func actionsBehindFlood() throws {
        let harness = ServerHarness { $0.framesPerTurnMax = 10 }
        let client = start(harness)
        for _ in 0..<25 { client.send(.confirm) }
        for _ in 0..<5 { client.add(1) }
        #expect(try harness.tally("/visits").count == 0)
        client.socket.room = 0
        harness.settle()
        client.take()
        harness.settle()
        #expect(try harness.tally("/visits").count == 5)
        #expect(try OutcomeLog(client.frames()).outcomes.keys.sorted() == [1, 2, 3, 4, 5])
    }

    @Test("W22, W32: a client that half-closes behind a flood still gets every answer")
    func halfCloseBehindFlood() throws {
        let harness = ServerHarness { $0.framesPerTurnMax = 10 }
        let client = start(harness)
        for number in 1...55 as ClosedRange<UInt64> { client.send(.ping, number: number) }
        harness.server.endInput(client.id)
        harness.settle()
        #expect(client.frames(.pong).map(\.number) == Array(1...55))
        #expect(client.socket.isClosed)
    }

    @Test("W32: a flooding client that disconnects leaves nothing to be read")
    func flooderGoes() throws {
        let harness = ServerHarness { $0.framesPerTurnMax = 10 }
        let client = start(harness)
        for _ in 0..<55 { client.send(.confirm) }
        harness.turn()
        client.disconnect()
        harness.settle()
        #expect(harness.server.connections.isEmpty)
        #expect(!harness.server.needsTurn)
    }

    @Test("W25: a partial frame of a paused client does not time out")
    func heldPartial() throws {
        let harness = ServerHarness { $0.undrainedBytesMax = 1 << 10 }
        let client = start(harness)
        client.socket.room = 0
        for _ in 0..<100 { client.dispatch(Tally.Action.ask) }
        harness.settle()
        #expect(client.socket.isPaused)
        harness.now += 100_000_000_000
        harness.server.tick(at: harness.now)
        harness.settle()
        #expect(!client.socket.isClosed)
        client.take()
        harness.settle()
        #expect(try OutcomeLog(client.frames()).outcomes.count == 100)
    }

    @Test("a faulty client that does not read its error is closed after the deadline")
    func deafFault() throws {
        let harness = ServerHarness()
        let client = start(harness)
        client.socket.room = 0
        client.send(.ping, flags: .more)
        harness.turn()
        #expect(!client.socket.isClosed)
        harness.now += 5_000_000_000
        harness.server.tick(at: harness.now)
        harness.carryOut()
        #expect(client.socket.isClosed)
        #expect(harness.server.connections.isEmpty)
    }

    // [WIRE-12-3]
    @Test("a client that does not read is closed at closeDeadline, whatever waits for it")
    func deafDrain() throws {
        let harness = ServerHarness()
        let (client, half) = (start(harness), start(harness))
        for deaf in [client, half] {
            deaf.socket.room = 0
            deaf.dispatch(Tally.Action.ask)
        }
        harness.server.endInput(half.id)
        harness.settle()
        harness.now += 60_000_000_000
        harness.server.tick(at: harness.now)
        harness.settle()
        #expect(!half.socket.isClosed, "a half-closed client may read slowly")
        harness.server.drain()
        harness.settle()
        harness.now += harness.server.limits.closeDeadline - 1
        harness.server.tick(at: harness.now)
        harness.settle()
        #expect(!client.socket.isClosed && !half.socket.isClosed)
        harness.now += 1
        harness.server.tick(at: harness.now)
        harness.settle()
        #expect(client.socket.isClosed && half.socket.isClosed)
        #expect(harness.server.connections.isEmpty)
    }

    // [WIRE-9-2]
    @Test(
        "a client that reads on gets the last mark before the close, even after a lag",
        arguments: [true, false])
    func lastMark(lagsBefore: Bool) throws {
        let harness = ServerHarness {
            $0.queueBytesMax = 4 << 10
            $0.writeBytesMax = 1 << 10
        }
        let (writer, reader) = (start(harness), start(harness))
        var mirror = PlainMirror()
        reader.follow("/page", in: &mirror)
        harness.turn()
        try mirror.take(reader.frames())
        reader.socket.room = 0
        for round in 0..<(lagsBefore ? 20 : 3) {
            writer.dispatch(Page.Action.body(String(repeating: "\(round)", count: 900)), to: 2)
            harness.turn()
        }
        #expect((harness.server.statistics.conflations > 0) == lagsBefore)
        writer.dispatch(Page.Action.body(String(repeating: "x", count: 3_000)), to: 2)
        harness.server.drain()
        harness.settle()
        reader.take()
        harness.settle()
        let frames = reader.frames()
        #expect(frames.last?.kind == .closing)
        #expect(frames.dropLast().last?.kind == .mark)
        try mirror.take(frames)
        #expect(mirror.markedSequence == harness.server.tree.revision.sequence)
        #expect(mirror.page("/page")?.body.hasPrefix("xxx") == true)
        #expect(reader.socket.isClosed)
        #expect(harness.server.memory.slices == 0)
    }

    @Test("a write that completes between a goodbye and the turn's end loses no outcome")
    func closeDuringTurn() throws {
        let harness = ServerHarness()
        let client = start(harness)
        client.socket.room = 0
        client.add(1)
        harness.turn()
        client.add(1)
        client.send(.goodbye)
        client.take()
        harness.turn()
        #expect(try OutcomeLog(client.frames()).outcomes.count == 2)
        #expect(client.socket.isClosed)
    }
}
