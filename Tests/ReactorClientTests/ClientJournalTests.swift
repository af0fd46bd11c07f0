import ReactorBytes
import ReactorCore
import ReactorLoop
import ReactorServer
import ReactorWire
import StockReactors
import Testing

@testable import ReactorClient

/// Actions that outlive the process that sent them.
@Suite("A client's journal")
struct ClientJournalTests {
    private typealias Action = StockReactors.Counter.Action

    private func client(_ store: ArrayStore, _ rig: Rig) throws -> Rig.Joined {
        var options = ClientOptions()
        options.keepsTrying = true
        return rig.client(options, journal: try ClientJournal(store))
    }

    private func notices(of client: Rig.Joined) -> [ClientNotice] {
        let feed = client.machine.shared.news
        return (0..<feed.end).compactMap { feed.notice(from: $0)?.0 }
    }

    @Test("C88: the next run resends sent actions without an outcome, in order, once")
    func sentAgain() throws {
        let rig = try Rig(keepingHistoryOf: 7)
        let store = ArrayStore()
        let first = try client(store, rig)
        let node = try first.open("/visits", rig)
        try first.machine.dispatch(Action.increment(by: 1), to: node)
        rig.run()
        // The daemon applies these actions, and the client receives no outcome.
        rig.journal = .isSilent
        for amount in [2, 4] as [Int64] {
            try first.machine.dispatch(Action.increment(by: amount), to: node)
        }
        rig.run()
        rig.journal = .holds
        try first.machine.dispatch(Action.increment(by: 8), to: node)
        rig.run()
        rig.crash(first)
        try rig.restart(epoch: 7)
        let second = try client(store, rig)
        #expect(second.machine.pendingCount == 3)
        rig.run()
        #expect(second.machine.welcome?.isResumed == true)
        #expect(try rig.count(at: "/visits") == 15)
        #expect(second.machine.pendingCount == 0)
        #expect(second.machine.statistics.recoveredActions == 3)
        let outcomes = notices(of: second).compactMap { notice -> UInt64? in
            guard case .recovered(_, let outcome) = notice else { return nil }
            return outcome.revision?.sequence
        }
        #expect(outcomes.sorted() == [2, 3, 4])
        let third = try client(store, rig)
        #expect(third.machine.pendingCount == 0)
    }

    @Test("C88: actions that wait for room, or for the daemon, are kept too")
    func waiting() throws {
        let rig = try Rig(keepingHistoryOf: 7)
        let store = ArrayStore()
        var options = ClientOptions()
        options.keepsTrying = true
        options.inFlightMax = 2
        let first = rig.client(options, journal: try ClientJournal(store))
        let node = try first.open("/visits", rig)
        rig.journal = .holds
        for _ in 0..<9 { try first.machine.dispatch(Action.increment(by: 1), to: node) }
        rig.run()
        #expect(first.sent.filter { $0.kind == .dispatch }.count == 2)
        rig.crash(first)
        try rig.restart(epoch: 7)
        _ = try client(store, rig)
        rig.run()
        #expect(try rig.count(at: "/visits") == 9)
    }

    @Test("C88: actions taken before the first connection are sent once there is a daemon")
    func neverConnected() throws {
        let rig = try Rig(keepingHistoryOf: 7)
        let store = ArrayStore()
        // A node has its number as soon as the client requests it.
        let first = try client(store, rig)
        first.machine.open("/visits") { _ in }
        let node = NodeID(rawValue: 0)
        for _ in 0..<3 { try first.machine.dispatch(Action.increment(by: 1), to: node) }
        _ = first.machine.takeOutgoing()
        rig.crash(first)
        #expect(first.machine.welcome == nil)
        let second = try client(store, rig)
        rig.run()
        #expect(second.machine.pendingCount == 0)
        #expect(try rig.count(at: "/visits") == 3)
    }

    @Test("C88: new actions never get the number of an old one, even if the journal lost its end")
    func tornEnd() throws {
        let rig = try Rig(keepingHistoryOf: 7)
        let store = ArrayStore()
        let first = try client(store, rig)
        let node = try first.open("/visits", rig)
        try first.machine.dispatch(Action.increment(by: 1), to: node)
        rig.run()
        let whole = store.bytes
        for _ in 0..<3 {
            try first.machine.dispatch(Action.increment(by: 1), to: node)
            rig.run()
        }
        rig.crash(first)
        // A power cut removes the end of the file and leaves a torn record.
        store.bytes = Array(store.bytes.prefix(whole.count + 7))
        let second = try client(store, rig)
        #expect(store.bytes.count >= PendingRecord.magic.count)
        let again = try second.open("/visits", rig)
        var outcomes: [ActionOutcome] = []
        try second.machine.dispatch(Action.increment(by: 10), to: again) { outcomes.append($0) }
        rig.run()
        #expect(outcomes.map { $0.revision?.sequence } == [5])
        #expect(try rig.count(at: "/visits") == 14)
    }

    @Test("C87: if the session is gone, the next run reports the outcomes as unknown")
    func lostSession() throws {
        let rig = try Rig(keepingHistoryOf: 7)
        let store = ArrayStore()
        let first = try client(store, rig)
        let node = try first.open("/visits", rig)
        try first.machine.dispatch(Action.increment(by: 1), to: node)
        rig.run()
        rig.journal = .holds
        try first.machine.dispatch(Action.increment(by: 1), to: node)
        rig.run()
        rig.crash(first)
        try rig.restart(epoch: 8, losing: rig.rows.count)
        let second = try client(store, rig)
        rig.run()
        let outcomes = notices(of: second).compactMap { notice -> ActionOutcome? in
            if case .recovered(_, let outcome) = notice { outcome } else { nil }
        }
        #expect(outcomes == [.unknown(.historyLost)])
        #expect(try rig.count(at: "/visits") == 0)
        // The client has a session again, and the journal contains it.
        #expect(try PendingState(store.bytes).session.secret == second.machine.figures.session)
    }

    @Test("C88: batches keep their nodes, and a closed client leaves its actions to the next run")
    func closed() throws {
        let rig = try Rig(keepingHistoryOf: 7)
        let store = ArrayStore()
        let first = try client(store, rig)
        let visits = try first.open("/visits", rig)
        let other = try first.open("/other", rig)
        rig.journal = .holds
        var outcome: ActionOutcome?
        let conditions = DispatchOptions(deadline: 60_000)
        let batch = OutgoingAction(
            batch: [
                (other, WireEmbedded(Action.increment(by: 3))),
                (visits, WireEmbedded(Action.increment(by: 4))),
            ], conditions)
        try first.machine.submit(batch) { outcome = $0 }
        rig.run()
        first.machine.close()
        #expect(outcome == .unknown(.kept))
        rig.crash(first)
        try rig.restart(epoch: 7)
        let second = try client(store, rig)
        rig.run()
        #expect(try rig.count(at: "/visits") == 4)
        #expect(try rig.count(at: "/other") == 3)
        second.machine.close()
        #expect(store.bytes.isEmpty)
    }

    @Test("C88: a journal is rewritten before it grows without bounds, and no action is lost")
    func rewritten() throws {
        let rig = try Rig(keepingHistoryOf: 7)
        let store = ArrayStore()
        let first = try client(store, rig)
        let node = try first.open("/visits", rig)
        var longest = 0
        for _ in 0..<60 {
            for _ in 0..<1_000 { try first.machine.dispatch(Action.increment(by: 1), to: node) }
            rig.run()
            longest = max(longest, store.byteCount)
        }
        #expect(longest > 1 << 19 && longest < ClientJournal.byteCountMin + (128 << 10))
        rig.journal = .holds
        for _ in 0..<1_500 { try first.machine.dispatch(Action.increment(by: 1), to: node) }
        rig.run()
        rig.crash(first)
        try rig.restart(epoch: 7)
        _ = try client(store, rig)
        rig.run()
        #expect(try rig.count(at: "/visits") == 61_500)
    }

    @Test("a journal that cannot be written ends the client before any action is sent")
    func broken() throws {
        let rig = try Rig(keepingHistoryOf: 7)
        let store = ArrayStore()
        let first = try client(store, rig)
        let node = try first.open("/visits", rig)
        store.isBroken = true
        var outcome: ActionOutcome?
        try first.machine.dispatch(Action.increment(by: 1), to: node) { outcome = $0 }
        rig.run()
        #expect(outcome?.isUnknown == true)
        guard case .failed(.system(let text)) = first.machine.phase else {
            Issue.record("the client is \(first.machine.phase)")
            return
        }
        #expect(text.contains("journal"))
        #expect(try rig.count(at: "/visits") == 0)
    }

    @Test("C88: a client that ends with a full disk leaves its session to the next run")
    func fullDisk() throws {
        let rig = try Rig(keepingHistoryOf: 7)
        let store = ArrayStore()
        let first = try client(store, rig)
        let node = try first.open("/visits", rig)
        rig.journal = .isSilent
        var outcomes: [ActionOutcome] = []
        try first.machine.dispatch(Action.increment(by: 1), to: node) { outcomes.append($0) }
        rig.run()
        store.isBroken = true
        try first.machine.dispatch(Action.increment(by: 1), to: node) { outcomes.append($0) }
        first.machine.close()
        rig.run()
        #expect(outcomes == [.unknown(.ended), .unknown(.ended)])
        #expect(!first.sent.contains { $0.kind == .goodbye })
        rig.crash(first)
        try rig.restart(epoch: 7)
        store.isBroken = false
        let second = try client(store, rig)
        rig.run()
        #expect(second.machine.welcome?.isResumed == true)
        #expect(try rig.count(at: "/visits") == 1)
    }

    @Test("C88: a second client with the same file is refused with SESSION_BUSY")
    func busy() async throws {
        let server = try LiveServer()
        var options = ClientOptions()
        options.journal = server.folder.path + "/pending"
        let first = try await Client.connect(to: server.path, options: options)
        do {
            _ = try await Client.connect(to: server.path, options: options)
            Issue.record("two have one journal")
        } catch .refused(let refusal) {
            #expect(refusal.code == .sessionBusy && refusal.message.contains("pending"))
        }
        #expect(
            try await first.dispatch("/visits", Action.increment(by: 1)).revision != nil)
        first.close()
    }

    @Test("a client whose file is refused leaves nothing on its loop")
    func refused() throws {
        weak var loop: EventLoop?
        func fail() throws {
            let own = try EventLoop()
            loop = own
            var options = ClientOptions()
            options.journal = "/proc/none/pending"
            #expect(throws: ClientError.self) { try LoopClient(on: own, options: options) }
        }
        try fail()
        #expect(loop == nil)
    }

    @Test("without a journal nothing is kept, and no frame is read a second time")
    func none() throws {
        let rig = Rig()
        let client = rig.client()
        let node = try client.open("/visits", rig)
        try client.machine.dispatch(Action.increment(by: 1), to: node)
        #expect(!client.machine.figures.mustKeep)
        rig.run()
    }

    @Test("a portion is one record of its frames, and names each of their nodes once")
    func portion() {
        func frame(_ node: UInt32, _ ordinal: UInt64) -> Frame {
            Frame(.dispatch, id: node, number: ordinal, [0x61, 0x61])
        }
        var portion = ClientJournal.Portion()
        var writer = WireWriter()
        portion.write(to: &writer)
        let isEmpty = writer.count == 0 && portion.nodes.isEmpty && portion.invariants()
        #expect(isEmpty)
        let frames = [frame(9, 1), frame(4, 2), frame(9, 3)]
        for frame in frames {
            let bytes = [frame].bytes
            portion.add(bytes.span)
        }
        portion.write(to: &writer)
        let (nodes, holds) = (portion.nodes, portion.invariants())
        #expect(nodes == [4, 9] && holds)
        let bytes = writer.bytes
        let record = PendingRecord(bytes.span, at: 0)
        #expect(record?.kind == .actions)
        #expect(record.map { Array(bytes[$0.payload]) } == frames.bytes)
    }
}
