import ReactorBytes
import ReactorCore
import ReactorWire
import Testing

@testable import ReactorClient

/// The outbox, tested alone: no connection, no daemon.
///
/// Drives ``PendingActions``.
struct OutboxTests {
    private static let node = NodeID(rawValue: 3)

    private static func action(_ byte: UInt8 = 0xf6) -> OutgoingAction {
        OutgoingAction(encoded: [byte], to: node)
    }

    private static func frames(_ bytes: OutgoingBytes?) throws -> [Frame] {
        try Frame.split(bytes.map { Array($0.bytes[$0.range]) } ?? [])
    }

    private func applied(_ sequence: UInt64) -> ActionOutcome {
        .applied(Revision(epoch: 7, sequence: sequence), reply: nil)
    }

    @Test("actions beyond the window wait, and leave in order as outcomes arrive")
    func window() throws {
        var outbox = Outbox(queueBytesMax: 1_000)
        for byte in 1...4 as ClosedRange<UInt8> {
            try outbox.submit(Self.action(byte), nil, then: nil)
        }
        #expect(!outbox.hasOutgoing && outbox.pendingCount == 4)
        outbox.open(window: 3)
        var sent = try Self.frames(outbox.takeOutgoing())
        #expect(sent.map(\.number) == [1, 2, 3] && sent.map(\.body) == [[1], [2], [3]])
        // The window has no room, and another action waits already.
        try outbox.submit(Self.action(5), nil, then: nil)
        #expect(outbox.hasOutgoing == false)
        _ = outbox.conclude(2, applied(1))
        #expect(outbox.settle().count == 0)
        sent = try Self.frames(outbox.takeOutgoing()).filter { $0.kind == .dispatch }
        #expect(sent.map(\.number) == [4] && outbox.inFlight == 3 && outbox.pendingCount == 4)
    }

    @Test("an outcome is delivered once, and only to its own completion")
    func delivery() throws {
        var outbox = Outbox(queueBytesMax: 1_000)
        outbox.open(window: 8)
        var outcomes: [ActionOutcome] = []
        try outbox.submit(Self.action(), nil) { outcomes.append($0) }
        try outbox.submit(Self.action(), nil, then: nil)
        _ = outbox.takeOutgoing()
        outbox.conclude(1, applied(4))?.deliver()
        #expect(outcomes == [applied(4)])
        let again = outbox.conclude(1, applied(4))
        #expect(again?.ordinal == nil)
        #expect(throws: ClientFault.self) { try outbox.check(3, 1) }
        #expect(throws: ClientFault.self) { try outbox.check(2, 2) }
        try outbox.check(1, 2)
    }

    @Test("an awaited action keeps its outcome until its effects have ended")
    func awaited() throws {
        var outbox = Outbox(queueBytesMax: 1_000)
        outbox.open(window: 8)
        var events: [String] = []
        var action = Self.action()
        action.awaitsEffects = true
        action.preview = PreviewTicket(
            assign: { number in #expect(number == 1) }, settle: {})
        try outbox.submit(
            action, { _ in events.append("known") }, then: { _ in events.append("ended") })
        _ = outbox.takeOutgoing()
        #expect(outbox.hasPreviews == true)
        let early = outbox.endEffects(of: 1)
        #expect(early?.ordinal == nil)
        outbox.conclude(1, applied(1))?.deliver()
        #expect(events == ["known"] && !outbox.hasPreviews && outbox.inFlight == 1)
        outbox.endEffects(of: 1)?.deliver()
        #expect(events == ["known", "ended"] && outbox.pendingCount == 0)
    }

    @Test("a new connection gets the actions without an outcome again, with their ordinals")
    func resend() throws {
        var outbox = Outbox(queueBytesMax: 1_000)
        outbox.open(window: 8)
        for byte in 1...3 as ClosedRange<UInt8> {
            try outbox.submit(Self.action(byte), nil, then: nil)
        }
        _ = outbox.takeOutgoing()
        _ = outbox.conclude(2, applied(1))
        outbox.close()
        try outbox.submit(Self.action(4), nil, then: nil)
        #expect(outbox.hasOutgoing == false)
        outbox.resend(after: 3, bodyBytesMax: 1_000)
        outbox.open(window: 8)
        let sent = try Self.frames(outbox.takeOutgoing())
        #expect(sent.map(\.number) == [1, 3, 4] && sent.map(\.body) == [[1], [3], [4]])
        #expect(outbox.processed == 3)
    }

    @Test("a lost session gives up the sent actions, and keeps the waiting ones")
    func giveUp() throws {
        var outbox = Outbox(queueBytesMax: 1_000)
        outbox.open(window: 1)
        var outcomes: [ActionOutcome] = []
        for _ in 0..<2 { try outbox.submit(Self.action(), nil) { outcomes.append($0) } }
        _ = outbox.takeOutgoing()
        for delivery in outbox.giveUpSent(.sessionExpired) { delivery.deliver() }
        #expect(outcomes == [.unknown(.sessionExpired)] && outbox.pendingCount == 1)
        for delivery in outbox.giveUpWaiting(.failed(message: "never sent")) { delivery.deliver() }
        #expect(outcomes.count == 2 && outbox.pendingCount == 0)
    }

    @Test("effects that ended with their daemon leave the known outcome")
    func lostDaemon() throws {
        var outbox = Outbox(queueBytesMax: 1_000)
        outbox.open(window: 4)
        var action = Self.action()
        action.awaitsEffects = true
        var outcomes: [ActionOutcome] = []
        try outbox.submit(action, nil) { outcomes.append($0) }
        _ = outbox.conclude(1, applied(5))
        for delivery in outbox.giveUpSent(.historyLost, haveEffectsEnded: true) {
            delivery.deliver()
        }
        #expect(outcomes == [.ownerEnded(Revision(epoch: 7, sequence: 5), reply: nil)])
    }

    @Test("waiting actions take the ordinals after those of a session that continues")
    func renumber() throws {
        var outbox = Outbox(queueBytesMax: 1_000)
        let numbers = Notes<UInt64>()
        var action = Self.action()
        action.awaitsEffects = true
        action.preview = PreviewTicket(assign: { numbers.add($0) }, settle: {})
        try outbox.submit(action, nil, then: nil)
        var isDrained = false
        let isKept = outbox.drain { isDrained = true }
        #expect(isKept)
        outbox.renumber(after: 40)
        outbox.open(window: 4)
        #expect(try Self.frames(outbox.takeOutgoing()).map(\.number) == [41])
        #expect(numbers.all == [1, 41])
        _ = outbox.conclude(41, applied(1))
        _ = outbox.endEffects(of: 41)
        for then in outbox.settle() { then() }
        #expect(isDrained)
    }

    @Test("too many waiting bytes, and too large an action, leave nothing in the outbox")
    func refused() throws {
        var outbox = Outbox(queueBytesMax: 50)
        outbox.resend(after: 0, bodyBytesMax: 10)
        for _ in 0..<3 { try outbox.submit(Self.action(), nil, then: nil) }
        #expect(throws: ClientError.queueFull(bytesMax: 50)) {
            try outbox.submit(Self.action(), nil, then: nil)
        }
        outbox.open(window: 8)
        let large = OutgoingAction(encoded: [UInt8](repeating: 0, count: 11), to: Self.node)
        #expect(throws: ClientError.tooLarge(byteCount: 11, bytesMax: 10)) {
            try outbox.submit(large, nil, then: nil)
        }
        try outbox.submit(Self.action(), nil, then: nil)
        #expect(try Self.frames(outbox.takeOutgoing()).map(\.number) == [1, 2, 3, 4])
    }

    @Test("half a window of outcomes is confirmed, and the daemon forgets them")
    func confirm() throws {
        var outbox = Outbox(queueBytesMax: 1_000)
        outbox.open(window: 4)
        for _ in 0..<2 { try outbox.submit(Self.action(), nil, then: nil) }
        _ = outbox.takeOutgoing()
        _ = outbox.conclude(1, applied(1))
        _ = outbox.settle()
        #expect(outbox.hasOutgoing == false)
        _ = outbox.conclude(2, applied(2))
        _ = outbox.settle()
        let sent = try Self.frames(outbox.takeOutgoing())
        #expect(sent.map(\.kind) == [.confirm] && sent.map(\.number) == [2])
    }

    @Test("a rejected action names the nodes that may be gone")
    func lostNodes() throws {
        var outbox = Outbox(queueBytesMax: 1_000)
        outbox.open(window: 4)
        try outbox.submit(Self.action(), nil, then: nil)
        let items = [5, 6].map { (NodeID(rawValue: $0), WireEmbedded(true)) }
        try outbox.submit(OutgoingAction(batch: items), nil, then: nil)
        _ = outbox.takeOutgoing()
        #expect(outbox.lostNodes(of: 1, rejectedWith: FaultCode.notFound.rawValue) == [3])
        #expect(outbox.lostNodes(of: 1, rejectedWith: FaultCode.decode.rawValue) == [])
        #expect(outbox.lostNodes(of: 2, rejectedWith: FaultCode.decode.rawValue) == [5, 6])
        #expect(outbox.lostNodes(of: 2, rejectedWith: "full") == [])
        _ = outbox.conclude(1, .rejected(Rejection("full", "")))
        #expect(outbox.lostNodes(of: 1, rejectedWith: FaultCode.notFound.rawValue) == [])
    }

    @Test("the journal has an action before it leaves, and the next run has it under its ordinal")
    func journal() throws {
        let store = ArrayStore()
        var outbox = Outbox(queueBytesMax: 1_000)
        _ = outbox.recover(from: try ClientJournal(store))
        outbox.keep(session: [1], epoch: 7, since: 0)
        outbox.open(window: 1)
        for byte in 1...3 as ClosedRange<UInt8> {
            try outbox.submit(Self.action(byte), nil, then: nil)
        }
        #expect(outbox.mustKeep == true)
        try outbox.keep { _ in "/visits" }
        #expect(outbox.mustKeep == false)
        _ = outbox.conclude(1, applied(1))
        try outbox.keep { _ in "/visits" }
        #expect(outbox.leaveJournal { _ in "/visits" } == .all)

        var next = Outbox(queueBytesMax: 1_000)
        let state = next.recover(from: try ClientJournal(store))
        #expect(state.session.secret == [1] && state.nodesInUse == [3])
        #expect(next.pendingCount == 2)
        next.resend(after: 0, bodyBytesMax: 1_000)
        let sent = try Self.frames(next.takeOutgoing())
        #expect(sent.map(\.number) == [2, 3] && sent.map(\.body) == [[2], [3]])
        #expect(next.conclude(2, applied(9))?.isRecovered == true)
        #expect(next.takeRecoveredNodes() == [])
        #expect(next.conclude(3, applied(10))?.isRecovered == true)
        #expect(next.takeRecoveredNodes() == [Self.node])
    }
}
