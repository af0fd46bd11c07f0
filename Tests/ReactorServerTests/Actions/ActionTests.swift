import ReactorBytes
import ReactorCore
import ReactorWire
import Testing

@testable import ReactorServer

/// Single actions: their forms, their outcomes, and that each is applied once.
struct ActionTests {
    /// A client with `/visits` open as 0 and `/other` as 1.
    private func start(_ harness: ServerHarness = ServerHarness()) -> (ServerHarness, TestClient) {
        let client = harness.client()
        client.open("/visits")
        client.open("/other", as: 1)
        harness.turn()
        _ = client.frames()
        return (harness, client)
    }

    private func send(_ action: WireValue, _ client: TestClient) {
        client.dispatch(action)
    }

    @Test("W17: a duplicate key refuses that action alone")
    func duplicateKeys() throws {
        let (harness, client) = start()
        // {"add": {"by": 1, "by": 2}}
        let twice: [UInt8] =
            [0xa1, 0x63] + Array("add".utf8) + [0xa2]
            + [0x62] + Array("by".utf8) + [1] + [0x62] + Array("by".utf8) + [2]
        client.send(.dispatch, number: 1, twice)
        client.dispatch(Tally.Action.add(by: 1), ordinal: 2)
        harness.turn()
        let log = try OutcomeLog(client.frames())
        #expect(log[1]?.code == "DECODE" && log[2]?.isApplied == true)
        #expect(try harness.tally("/visits").count == 1)
    }

    @Test("R101: an action whose effect has no room is refused with BUSY, and changes nothing")
    func noRoom() throws {
        let (harness, client) = start(ServerHarness { $0.effectsMax = 2 })
        for _ in 0..<3 { client.dispatch(Tally.Action.work(by: 1)) }
        client.batch([(0, Tally.Action.add(by: 1)), (1, Tally.Action.work(by: 1))])
        client.add(5)
        harness.turn()
        let log = try OutcomeLog(client.frames())
        #expect(log[1]?.isApplied == true && log[2]?.isApplied == true)
        #expect(log[3]?.code == "BUSY" && log[4]?.code == "BUSY" && log[5]?.isApplied == true)
        #expect(try harness.tally("/visits").count == 7)
        #expect(harness.server.tree.revision.sequence == 3)
    }

    // [WIRE-3-11]
    @Test("W18: an unknown field is skipped, an unknown case is DECODE for that action only")
    func unknownNames() throws {
        let (harness, client) = start()
        send(["add": ["by": 2, "later": [1, 2]]], client)
        send(["subtract": ["by": 2]], client)
        send(["add": ["by": 3]], client)
        harness.turn()
        let log = try OutcomeLog(client.frames())
        #expect(log[1]?.isApplied == true && log[2]?.code == "DECODE" && log[3]?.isApplied == true)
        #expect(try harness.tally("/visits").count == 5)
        #expect(!client.socket.isClosed)
    }

    @Test("W18: a long name of an unknown case is neither kept nor sent back in full")
    func longNames() throws {
        let (harness, client) = start()
        for _ in 0..<20 { send([WireKey(String(repeating: "n", count: 100_000)): 1], client) }
        harness.turn()
        let frames = client.frames(.outcome)
        #expect(frames.count == 20)
        for frame in frames { #expect(frame.body.count < 2_000) }
    }

    @Test("W19: bytes after an action refuse that action")
    func trailingBytes() throws {
        let (harness, client) = start()
        client.send(.dispatch, number: 1, Tally.Action.add(by: 1).wireBytes() + [0xf6])
        harness.turn()
        #expect(try OutcomeLog(client.frames())[1]?.code == "DECODE")
        #expect(try harness.tally("/visits").count == 0)
    }

    @Test("a bare name is a case without a payload")
    func bareName() throws {
        let (harness, client) = start()
        send("nothing", client)
        harness.turn()
        #expect(try OutcomeLog(client.frames())[1]?.isApplied == true)
        #expect(harness.server.tree.revision.sequence == 1)
    }

    // [WIRE-7-4]
    @Test("W31: a repeated ordinal gets its original outcome, and is never applied twice")
    func duplicates() throws {
        let (harness, client) = start()
        client.dispatch(Tally.Action.add(by: 1), ordinal: 5)
        client.dispatch(Tally.Action.add(by: 1), ordinal: 5)
        client.dispatch(Tally.Action.refuse(text: "a"), ordinal: 6)
        client.dispatch(Tally.Action.ask, ordinal: 9)
        harness.turn()
        client.dispatch(Tally.Action.add(by: 1), ordinal: 9)
        client.dispatch(Tally.Action.add(by: 1), ordinal: 6)
        client.dispatch(Tally.Action.add(by: 1), ordinal: 5)
        client.dispatch(Tally.Action.add(by: 1), ordinal: 7)
        harness.turn()
        let log = try OutcomeLog(client.frames())
        #expect(try harness.tally("/visits").count == 1)
        #expect(
            log.outcomes[5]?.count == 3 && Set(log.outcomes[5]?.map(\.isApplied) ?? []) == [true])
        #expect(log.outcomes[6]?.map(\.code) == ["refused", "refused"])
        #expect(log.outcomes[9]?.count == 2 && log.outcomes[9]?.first == log.outcomes[9]?.last)
        #expect(log[7]?.code == "ORDINAL")
        #expect(harness.server.statistics.repeats == 5)
    }

    @Test("an action to a node that is not open is NOT_FOUND, and only that action fails")
    func notOpen() throws {
        let (harness, client) = start()
        client.add(1, to: 99)
        client.add(1)
        harness.turn()
        let log = try OutcomeLog(client.frames())
        #expect(log[1]?.code == "NOT_FOUND" && log[2]?.isApplied == true)
    }

    // [WIRE-7-9]
    @Test("a condition holds at the node's revision or any later one seen, and fails on a change")
    func expected() throws {
        let (harness, client) = start()
        client.add(1)  // 1
        client.add(1, to: 1)  // 2: another node
        func when(_ sequence: UInt64, epoch: UInt64 = 7) -> DispatchOptions {
            DispatchOptions(expected: Revision(epoch: epoch, sequence: sequence))
        }
        let add = Tally.Action.add(by: 10)
        client.dispatch(add, options: when(0))
        client.dispatch(add, options: when(3))
        client.dispatch(add, options: when(2, epoch: 8))
        client.dispatch(add, options: when(2))  // 3
        client.dispatch(add, options: when(2))
        client.dispatch(add, options: when(3))  // 4
        client.dispatch(add, options: DispatchOptions(deadline: 0))
        harness.turn()
        let log = try OutcomeLog(client.frames())
        #expect((3...5).map { log[$0]?.code } == ["CONFLICT", "CONFLICT", "CONFLICT"])
        #expect(log[6]?.isApplied == true && log[7]?.code == "CONFLICT")
        #expect(log[8]?.isApplied == true && log[9]?.code == "DEADLINE")
        #expect(try harness.tally("/visits").count == 21)
    }

    // [WIRE-7-10]
    @Test(
        "W26: an action that was held back beyond its deadline is rejected, not applied late")
    func deadline() throws {
        let (harness, client) = start(ServerHarness { $0.inFlightMax = 2 })
        harness.appendsAtOnce = false
        let millisecond: UInt64 = 1_000_000
        for _ in 0..<3 { client.add(1) }
        #expect(client.socket.isPaused == false)
        for deadline in [50, 100, 101] as [UInt32] {
            client.dispatch(Tally.Action.add(by: 10), options: DispatchOptions(deadline: deadline))
        }
        client.add(100)
        harness.turn()
        #expect(client.socket.isPaused)
        harness.now += 100 * millisecond
        harness.append()
        for _ in 0..<10 {
            harness.turn()
            harness.append()
        }
        let log = try OutcomeLog(client.frames())
        #expect((4...7).map { log[$0]?.code } == ["DEADLINE", "DEADLINE", nil, nil])
        #expect(try harness.tally("/visits").count == 113)
    }

    @Test("a deadline counts from the reading of the action, over however many turns it waits")
    func deadlineOverTurns() throws {
        let (harness, client) = start(ServerHarness { $0.inFlightMax = 2 })
        harness.appendsAtOnce = false
        let millisecond: UInt64 = 1_000_000
        for _ in 0..<30 {
            client.dispatch(Tally.Action.add(by: 1), options: DispatchOptions(deadline: 50))
        }
        for _ in 0..<40 {
            harness.turn()
            harness.now += 10 * millisecond
            harness.append()
        }
        let log = try OutcomeLog(client.frames())
        let codes = (1...30).map { log[$0]?.code }
        let firstLate = try #require(codes.firstIndex(of: "DEADLINE"))
        #expect(firstLate > 3 && codes[..<firstLate].allSatisfy { $0 == nil })
        #expect(codes[firstLate...].allSatisfy { $0 == "DEADLINE" })
        #expect(try harness.tally("/visits").count == firstLate)
    }

    @Test("an action that is not held back never misses its deadline")
    func deadlineUnheld() throws {
        let (harness, client) = start()
        client.dispatch(Tally.Action.add(by: 1), options: DispatchOptions(deadline: 1))
        harness.now += 1_000_000_000
        client.dispatch(Tally.Action.add(by: 1), options: DispatchOptions(deadline: 1))
        client.dispatch(Tally.Action.add(by: 1), options: DispatchOptions(deadline: 0))
        harness.turn()
        let log = try OutcomeLog(client.frames())
        #expect((1...3).map { log[$0]?.code } == [nil, nil, "DEADLINE"])
    }

    // [WIRE-7-11]
    @Test("a batch is one revision, and each action sees the changes of those before it")
    func batch() throws {
        let (harness, client) = start()
        client.batch([
            (0, Tally.Action.add(by: 2)), (1, Tally.Action.add(by: 3)), (0, Tally.Action.ask),
        ])
        harness.turn()
        let log = try OutcomeLog(client.frames())
        #expect(log[1] == .applied(sequence: 1, reply: WireEmbedded(2), ownerEnded: false))
        #expect(try harness.tally("/visits").count == 2)
        #expect(try harness.tally("/other").count == 3)
        #expect(harness.server.tree.revision.sequence == 1)
    }

    // [WIRE-7-11]
    @Test("a batch with one refused action changes nothing, and names that action")
    func batchRefused() throws {
        let (harness, client) = start()
        client.add(1)
        client.batch([(0, Tally.Action.add(by: 2)), (1, Tally.Action.refuse(text: "no"))])
        client.batch([(0, Tally.Action.add(by: 2)), (9, Tally.Action.add(by: 2))])
        // No action was applied, so the parent's revision must not have moved either.
        let root = DispatchOptions(expected: Revision(epoch: 7, sequence: 1))
        client.dispatch(Tally.Action.add(by: 1), options: root)
        client.open("/house", as: 2)
        client.open("/house/rooms", as: 3)
        client.batch([(2, House.Action.build(name: "a")), (0, Tally.Action.refuse(text: ""))])
        harness.turn()
        let log = try OutcomeLog(client.frames())
        guard case .rejected(let code, let message) = log[2] else {
            Issue.record("the batch was not rejected")
            return
        }
        #expect(code == "refused" && message == "action 1: no")
        #expect(log[3]?.code == "NOT_FOUND" && log[4]?.isApplied == true)
        #expect(log[5]?.code == "refused")
        #expect(try harness.tally("/visits").count == 2)
        #expect(harness.server.tree.revision.sequence == 2)
        #expect(harness.server.tree.root.sequence == 2)
        #expect(harness.server.tree.node(at: try SlicePath("/house"))?.sequence == 0)
        #expect(harness.server.tree.node(at: try SlicePath("/house/rooms/a")) == nil)
        #expect(harness.batches[0].sequence == 2)
    }

    @Test("a batch cannot use a node that it has removed before")
    func batchRemoved() throws {
        let (harness, client) = start()
        client.open("/house", as: 2)
        client.dispatch(House.Action.build(name: "a"), to: 2)
        client.open("/house/rooms/a", as: 3)
        client.batch([(2, House.Action.tear(name: "a")), (3, Tally.Action.add(by: 1))])
        client.add(1, to: 3)
        harness.turn()
        let log = try OutcomeLog(client.frames())
        #expect(log[2]?.code == "NOT_FOUND" && log[3]?.isApplied == true)
    }

    // [WIRE-7-5]
    @Test("a deferred answer, given by another connection's action, reaches the waiting client")
    func deferred() throws {
        let (harness, waiter) = start()
        let (_, granter) = start(harness)
        waiter.dispatch(Tally.Action.wait)
        waiter.add(1)
        harness.turn()
        var log = try OutcomeLog(waiter.frames())
        #expect(log[1] == nil && log[2]?.isApplied == true)
        waiter.dispatch(Tally.Action.wait, ordinal: 1)
        harness.turn()
        #expect(waiter.frames().isEmpty)
        granter.dispatch(Tally.Action.grant(value: 99))
        harness.turn()
        log = try OutcomeLog(waiter.frames())
        #expect(log[1] == .applied(sequence: 3, reply: WireEmbedded(99), ownerEnded: false))
        granter.dispatch(Tally.Action.grant(value: 100))
        harness.turn()
        #expect(try OutcomeLog(waiter.frames())[1] == nil)
    }

    // [WIRE-1-7]
    @Test("a client that half-closes while an answer is owed still gets it")
    func deferredHalfClose() throws {
        let (harness, waiter) = start()
        let (_, granter) = start(harness)
        waiter.dispatch(Tally.Action.wait)
        harness.server.endInput(waiter.id)
        harness.turn()
        #expect(!waiter.socket.isClosed)
        granter.dispatch(Tally.Action.grant(value: 1))
        harness.settle()
        #expect(try OutcomeLog(waiter.frames())[1]?.isApplied == true)
        #expect(waiter.socket.isClosed)
    }

    // [WIRE-7-6]
    @Test("the number of actions that may wait for their answers is limited")
    func deferredLimit() throws {
        let (harness, client) = start(ServerHarness { $0.inFlightMax = 4 })
        for _ in 0..<6 {
            client.dispatch(Tally.Action.wait)
            harness.settle()
        }
        let log = try OutcomeLog(client.frames())
        #expect((1...6).map { log[$0]?.code } == [nil, nil, nil, nil, "QUOTA", "QUOTA"])
        #expect(try harness.tally("/visits").waiting.count == 4)
    }

    // [WIRE-7-6]
    @Test("an action that ends a wait is admitted, however many actions of its session wait")
    func deferredLimitLetsGo() throws {
        let (harness, client) = start(ServerHarness { $0.inFlightMax = 4 })
        let before = DispatchOptions(deadline: 1_000)
        for _ in 0..<4 { client.dispatch(Tally.Action.wait) }
        client.dispatch(Tally.Action.wait, options: before)
        client.dispatch(Tally.Action.wait, options: DispatchOptions(cancel: "x"))
        client.batch([(0, Tally.Action.add(by: 1)), (0, Tally.Action.wait)])
        client.dispatch(Tally.Action.add(by: 5))
        client.dispatch(Tally.Action.grant(value: 3), options: before)
        harness.turn()
        client.dispatch(Tally.Action.wait)
        harness.settle()
        let log = try OutcomeLog(client.frames())
        #expect((1...4).allSatisfy { log[$0]?.isApplied == true }, "they were granted")
        #expect((5...7).map { log[$0]?.code } == ["QUOTA", "QUOTA", "QUOTA"])
        #expect(log[8]?.isApplied == true && log[9]?.isApplied == true)
        #expect(log[10] == nil)
        #expect(try harness.tally("/visits").count == 5)
        #expect(try harness.tally("/visits").waiting.count == 1)
    }

    // [WIRE-6-1]
    @Test("an id that is opened again means the new node from then on")
    func reopen() throws {
        let (harness, client) = start()
        client.add(1)
        client.open("/other")
        client.add(10)
        harness.turn()
        #expect(try harness.tally("/visits").count == 1)
        #expect(try harness.tally("/other").count == 10)
    }

    // [WIRE-7-12]
    @Test("a batch that names a node which is not open is NOT_FOUND, and names the action")
    func batchOfUnopened() throws {
        let (harness, client) = start()
        client.batch([(0, Tally.Action.add(by: 2)), (77, Tally.Action.add(by: 1))])
        harness.turn()
        guard case .rejected(let code, let message) = try OutcomeLog(client.frames())[1] else {
            Issue.record("no rejection")
            return
        }
        #expect(code == "NOT_FOUND")
        #expect(message == "action 1: node 77 is not open or is gone")
        #expect(try harness.tally("/visits").count == 0)
    }

    @Test("W11: an action after options may be as deep as any other, even after `cancel`")
    func depthBehindOptions() throws {
        let (harness, client) = start()
        let deep = (0..<41).reduce(WireValue.null) { value, _ in .array([value]) }
        client.dispatch(["add": ["by": 1, "x": deep]] as WireValue)
        for options in [DispatchOptions(deadline: 1_000), DispatchOptions(cancel: "x")] {
            client.dispatch(["add": ["by": 1, "x": deep]] as WireValue, options: options)
        }
        harness.turn()
        let log = try OutcomeLog(client.frames())
        #expect((1...3).map { log[$0]?.code } == ["DECODE", "DECODE", "DECODE"])
    }

    // [WIRE-7-13]
    @Test("a follower runs after its cause, as a revision of its own, in the same batch")
    func followers() throws {
        let (harness, client) = start()
        client.dispatch(Tally.Action.chain(by: 10))
        client.add(1)
        harness.turn()
        let log = try OutcomeLog(client.frames())
        #expect(log[1] == .applied(sequence: 1, reply: nil, ownerEnded: false))
        #expect(log[2] == .applied(sequence: 3, reply: nil, ownerEnded: false))
        #expect(try harness.tally("/visits").count == 12)
        #expect(harness.batches.map(\.sequence) == [3])
    }

    // [WIRE-7-7]
    @Test("R100: the sender of an action whose followers were cut is notified after the outcome")
    func loop() throws {
        let (harness, client) = start()
        let (_, other) = start(harness)
        client.add(1)
        client.dispatch(Tally.Action.circle)
        harness.turn()
        let frames = client.frames()
        #expect(frames.map(\.kind) == [.applied, .notice])
        #expect(frames[1].number == 2)
        let notice = try frames[1].decode(Notice.self)
        #expect(notice.code == "LOOP" && notice.message.contains("/visits"))
        #expect(other.frames().isEmpty)
        let told = harness.events.contains {
            if case .complaint(let text, _) = $0 { text.hasPrefix("LOOP") } else { false }
        }
        #expect(told)
        // The server cuts the chain, not the transactions before the cut.
        #expect(try harness.tally("/visits").count == 2 + CoreLimits.followerDepthMax)
    }
}
