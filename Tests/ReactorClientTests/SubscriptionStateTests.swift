import ReactorCore
import ReactorWire
import Testing

@testable import ReactorClient

/// ``Subscription`` alone: its state between two verbs.
@Suite("A subscription's state")
struct SubscriptionStateTests {
    private static let now = Revision(epoch: 7, sequence: 3)

    private static func header(
        _ kind: FrameKind, _ number: UInt64, flags: FrameFlags = []
    ) -> FrameHeader {
        FrameHeader(kind: kind, flags: flags, id: 5, number: number)
    }

    /// A subscription that has its number and its first snapshot.
    private static func live(_ mode: SubscriptionMode = .replica) throws -> Subscription {
        let subscription = Subscription(path: "/a", mode: mode)
        _ = try subscription.grant(
            5, .snapshot, isContinued: false, isLagging: false, at: now)
        try subscription.admit(mode == .replica ? .snapshot : .value, header(.snapshot, 3))
        subscription.reach(3)
        subscription.becomeLive()
        return subscription
    }

    private static func append(
        _ bytes: [UInt8], to subscription: Subscription, isLast: Bool
    ) throws -> [UInt8]? {
        try subscription.append(bytes.span, isLast: isLast, byteCountMax: 4)
    }

    @Test("a slice asks for a snapshot until it has shown one, and then for what follows")
    func wish() throws {
        let asked = Subscription(path: "/a", mode: .replica)
        #expect(asked.wish(at: Self.now).from == nil)
        #expect(!asked.isCatchingUp && !asked.takesDeltas && asked.invariants())
        let live = try Self.live()
        #expect(live.wish(at: Self.now).from == Self.now)
        live.requireSnapshot()
        #expect(live.wish(at: Self.now).from == nil)
    }

    @Test("a new sink makes the slice ask for a snapshot; the last one to leave empties it")
    func sinks() throws {
        let live = try Self.live()
        let first = StagedSink()
        let second = StagedSink()
        live.join(first)
        live.join(second)
        #expect(live.needsSnapshot && live.sinks.count == 2)
        #expect(live.leave(first))
        #expect(!live.leave(first))
        #expect(live.close().count == 1)
        #expect(live.sinks.isEmpty && live.sliceID == nil && live.invariants())
    }

    @Test("deltas are admitted in order, above what the sinks have, on a current replica")
    func deltas() throws {
        let live = try Self.live()
        #expect(live.takesDeltas)
        #expect(!live.admitDelta(3))
        #expect(live.admitDelta(4))
        #expect(live.admitDelta(4))
        live.reach(4)
        #expect(!live.admitDelta(4))
        #expect(throws: ClientFault.self) { try live.admit(.delta, Self.header(.delta, 2)) }
        #expect(live.needsSnapshot)
        #expect(try !Self.live(.value).takesDeltas)
    }

    @Test("after a lag the slice waits for its snapshot, and takes no delta before it")
    func lag() throws {
        let live = try Self.live()
        live.lag()
        #expect(live.isCatchingUp && !live.takesDeltas)
        #expect(throws: ClientFault.self) { try live.admit(.delta, Self.header(.delta, 9)) }
        try live.admit(.snapshot, Self.header(.snapshot, 9))
        #expect(!live.isCatchingUp && live.takesDeltas)
    }

    @Test("a lost connection takes the number and the parts, and leaves what was shown")
    func suspension() throws {
        let live = try Self.live()
        #expect(try Self.append([1, 2], to: live, isLast: false) == nil)
        #expect(live.hasParts)
        live.suspend()
        #expect(!live.hasParts && live.sliceID == nil && live.wasLive && live.isCatchingUp)
        let isAwaited = try live.grant(
            6, .deltas, isContinued: true, isLagging: false, at: Self.now)
        #expect(!isAwaited && live.takesDeltas && live.sliceID == 6)
        live.stopWaiting()
        #expect(!live.wasLive && live.needsSnapshot && live.invariants())
    }

    @Test("a grant without a snapshot, for a slice that needs one, is the daemon's fault")
    func wrongGrant() throws {
        let asked = Subscription(path: "/a", mode: .replica)
        #expect(throws: ClientFault.self) {
            try asked.grant(5, .deltas, isContinued: false, isLagging: false, at: Self.now)
        }
        #expect(asked.sliceID == nil && asked.invariants())
    }

    @Test("parts become a whole with the last one, within the limit")
    func parts() throws {
        let live = try Self.live(.value)
        #expect(try Self.append([1, 2], to: live, isLast: false) == nil)
        #expect(try Self.append([3], to: live, isLast: true) == [1, 2, 3])
        #expect(!live.hasParts && !live.needsSnapshot)
        #expect(throws: ClientFault.self) {
            try Self.append([1, 2, 3, 4, 5], to: live, isLast: true)
        }
        #expect(live.needsSnapshot)
    }

    @Test("three unreadable updates in a row are too many, and a readable one starts again")
    func faults() throws {
        let live = try Self.live()
        #expect(live.rejectUpdate() && live.needsSnapshot)
        #expect(live.rejectUpdate())
        live.acceptUpdate()
        #expect(live.rejectUpdate())
        #expect(live.rejectUpdate())
        #expect(!live.rejectUpdate())
    }
}
