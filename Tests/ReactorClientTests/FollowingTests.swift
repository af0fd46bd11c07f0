import ReactorBytes
import ReactorCore
import ReactorThreads
import ReactorWire
import Testing

@testable import ReactorClient

/// The slices that a client follows, tested alone: no connection, no daemon.
struct FollowingTests {
    private static let now = Revision(epoch: 7, sequence: 3)

    private static func following() -> Following {
        Following(frameBytesMax: 1_000, partBytesMax: 10)
    }

    private static func grant(_ start: Subscribed.Start) -> Subscribed {
        Subscribed(start: start, reactor: "R", fingerprint: 1, sequence: 3)
    }

    private static func stage(
        _ frames: [Frame], upTo mark: UInt64, _ following: inout Following
    ) throws(ClientFault) {
        let bytes = frames.bytes
        try following.stage(bytes.span, 0..<bytes.count, upTo: mark, nil)
    }

    /// Follows a slice that has its number and waits for its snapshot.
    private func follow(
        _ sink: StagedSink, at path: String = "/a", _ id: UInt32 = 5,
        _ mode: SubscriptionMode = .replica, in following: inout Following
    ) throws -> Subscription {
        following.follow(path, mode, sink)
        let wanted = following.takeEffects().wanted
        let subscription = try #require(wanted.last)
        let isAwaited = try following.grant(
            subscription, id, Self.grant(.snapshot), isContinued: false, isLagging: false,
            at: Self.now, epoch: 7)
        #expect(!isAwaited)
        return subscription
    }

    @Test("a slice shows its snapshot and its deltas at the marks that complete them")
    func updates() throws {
        var following = Self.following()
        let sink = StagedSink()
        _ = try follow(sink, in: &following)
        let shared = SharedState()
        let snapshot = Frame(.snapshot, id: 5, number: 3, [9])
        #expect(try following.admit(.snapshot, snapshot.header) == true)
        try Self.stage([snapshot], upTo: 3, &following)
        #expect(sink.staged == ["value"] && sink.commits == 0)
        let sinks = following.commit(Self.now, to: shared)
        #expect(sinks.count == 1 && sink.commits == 1)
        #expect(shared.revision.withLock { $0 } == Self.now)
        var writer = WireWriter()
        Origin(client: 1, ordinal: 2).encode(into: &writer)
        let deltas = [4, 5].map { Frame(.delta, id: 5, number: $0, writer.bytes) }
        let bytes = deltas.bytes
        let end = following.admitDeltas(bytes.span, from: 0)
        #expect(end == bytes.count)
        try Self.stage(deltas, upTo: 5, &following)
        #expect(sink.staged == ["value", "delta", "delta"])
        #expect(following.wasLive == true && following.isCatchingUp == false)
    }

    @Test("an update out of order, or of another mode, is a fault of the daemon")
    func disorder() throws {
        var following = Self.following()
        let subscription = try follow(StagedSink(), in: &following)
        #expect(try following.admit(.delta, Frame(.delta, id: 9).header) == false)
        #expect(throws: ClientFault.self) {
            try following.admit(.value, Frame(.value, id: 5, number: 4).header)
        }
        #expect(throws: ClientFault.self) {
            try following.admit(.delta, Frame(.delta, id: 5, number: 4).header)
        }
        #expect(subscription.needsSnapshot)
        let late = [Frame(.snapshot, id: 5, number: 8, [1])]
        #expect(throws: ClientFault.self) { try Self.stage(late, upTo: 7, &following) }
    }

    @Test("the last sink that leaves ends the slice, and a released sink leaves")
    func leave() throws {
        var following = Self.following()
        let sinks = [StagedSink(), StagedSink()]
        _ = try follow(sinks[0], in: &following)
        following.follow("/a", .replica, sinks[1])
        _ = following.takeEffects()
        following.leave(sinks[0])
        #expect(following.takeEffects().isEmpty == true)
        sinks[1].isReleased = true
        following.leaveReleased()
        #expect(following.takeEffects().unsubscribed == [5])
        #expect(following.isEmpty == true)
    }

    @Test("sinks of a removed slice end while no slice is borrowed")
    func gone() throws {
        var following = Self.following()
        let sink = StagedSink()
        _ = try follow(sink, in: &following)
        #expect(following.end(5) == "/a")
        #expect(following.end(5) == nil)
        let effects = following.takeEffects()
        #expect(effects.ended.map(\.error) == [.gone(path: "/a")])
        #expect(sink.errors.isEmpty && effects.unsubscribed == [])
    }

    private static func types(_ fingerprint: UInt64) -> Result<NodeTypes, ClientError> {
        .success(
            NodeTypes(
                reactor: "R", formerNames: [], fingerprint: fingerprint, state: .bool,
                byValue: false))
    }

    @Test("a mirror whose type differs from the daemon's learns the type, then follows the value")
    func mismatch() throws {
        var following = Self.following()
        let sink = StagedSink()
        sink.fingerprint = 2
        _ = try follow(sink, in: &following)
        let effects = following.takeEffects()
        #expect(effects.unsubscribed == [5] && effects.wanted.isEmpty)
        #expect(effects.asked == ["/a"] && sink.modes == [.replica, .value])
        #expect(following.isEmpty == false)
        following.learn(Self.types(3), at: "/a")
        #expect(following.takeEffects().wanted.map(\.mode) == [.value])
    }

    @Test("on a new connection, a slice is requested after its types, in the mode that they allow")
    func newTypes() throws {
        for (fingerprint, mode) in [(UInt64(2), SubscriptionMode.replica), (4, .value)] {
            var following = Self.following()
            let sink = StagedSink()
            sink.fingerprint = 2
            following.inquire("/a", sink)
            following.learn(Self.types(3), at: "/a")
            _ = following.takeEffects()
            following.resubscribe { _ in true }
            // The sink still knows the types of this connection.
            #expect(following.takeEffects().wanted.map(\.mode) == [.value])
            _ = following.suspend()
            following.resubscribe { _ in true }
            var effects = following.takeEffects()
            #expect(effects.asked == ["/a"] && effects.wanted.isEmpty)
            following.learn(Self.types(fingerprint), at: "/a")
            effects = following.takeEffects()
            #expect(effects.wanted.map(\.mode) == [mode] && effects.ended.isEmpty)
        }
    }

    @Test("a daemon that does not tell the types ends the sinks that need them, and no other")
    func noTypes() throws {
        var following = Self.following()
        let (typed, other) = (StagedSink(), StagedSink())
        typed.fingerprint = 2
        following.inquire("/a", typed)
        following.follow("/a", .value, other)
        _ = following.takeEffects()
        following.learn(.failure(.gone(path: "/a")), at: "/a")
        let effects = following.takeEffects()
        #expect(effects.ended.map(\.error) == [.gone(path: "/a")])
        #expect(effects.ended.first?.sink === typed && following.isEmpty == false)
    }

    @Test("parts within the limit form one value, and an unreadable value ends its sink")
    func parts() throws {
        var following = Self.following()
        let sink = StagedSink()
        _ = try follow(sink, at: "/a", 5, .value, in: &following)
        var part = Frame(.value, id: 5, number: 3, [1, 2])
        part.header.flags = .more
        try Self.stage([part, Frame(.value, id: 5, number: 3, [3])], upTo: 3, &following)
        #expect(sink.staged == ["value"] && sink.lastByteCount == 3)
        sink.isBroken = true
        try Self.stage([Frame(.value, id: 5, number: 3, [4])], upTo: 3, &following)
        let effects = following.takeEffects()
        #expect(effects.ended.count == 1 && effects.unsubscribed == [5])
        part.body = [UInt8](repeating: 0, count: 11)
        part.header.length = 11
        _ = try follow(StagedSink(), at: "/b", 6, .value, in: &following)
        part.header.id = 6
        #expect(throws: ClientFault.self) { try Self.stage([part], upTo: 3, &following) }
    }

    @Test("an unreadable delta ends the connection twice, and then the subscription")
    func faults() throws {
        var following = Self.following()
        let sink = StagedSink()
        let subscription = try follow(sink, in: &following)
        sink.isBroken = true
        var writer = WireWriter()
        Origin(client: 1, ordinal: 2).encode(into: &writer)
        let delta = [Frame(.delta, id: 5, number: 4, writer.bytes)]
        for _ in 0..<2 {
            #expect(throws: ClientFault.self) { try Self.stage(delta, upTo: 4, &following) }
        }
        try Self.stage(delta, upTo: 4, &following)
        #expect(following.contains(subscription) == false)
        #expect(following.takeEffects().ended.count == 1)
    }

    @Test("a lost connection keeps the shown state, and the client requests the updates after it")
    func suspend() throws {
        var following = Self.following()
        let subscription = try follow(StagedSink(), in: &following)
        try Self.stage([Frame(.snapshot, id: 5, number: 3, [1])], upTo: 3, &following)
        _ = following.commit(Self.now, to: SharedState())
        #expect(following.suspend().count == 1)
        #expect(following.isCatchingUp == true)
        following.resubscribe { _ in true }
        #expect(following.takeEffects().wanted.count == 1)
        #expect(subscription.wish(at: Self.now).from == Self.now)
        following.release { $0 == "/a" }
        #expect(subscription.wish(at: Self.now).from == nil && following.isCatchingUp == false)
    }
}

/// A sink that records its calls.
final class StagedSink: SliceSink {
    /// Fingerprint of its types; with that of the daemon's, 1, it asks for no types.
    var fingerprint: UInt64 = 1
    private var areTypesKnown = false
    var isReleased = false
    var takesPatches: Bool { false }
    /// Whether staging fails from now on.
    var isBroken = false
    private(set) var staged: [String] = []
    private(set) var commits = 0
    private(set) var errors: [ClientError] = []
    private(set) var modes: [SubscriptionMode] = []
    private(set) var lastByteCount = 0
    /// The number of its slice.
    private(set) var slice: UInt32?
    /// Called when it ends.
    var onFail: (() -> Void)?

    private func read(_ name: String) throws(WireError) {
        if isBroken { throw WireError(.mismatch(expected: "a value", got: "nothing"), at: 0) }
        staged.append(name)
    }

    var needsTypes: Bool { fingerprint != 1 && !areTypesKnown }
    func fits(_ subscribed: Subscribed) -> Bool { subscribed.fingerprint == fingerprint }
    func learn(_ types: NodeTypes, at path: String) -> TypeVerdict {
        areTypesKnown = true
        return types.fingerprint == fingerprint ? .replica : .value(isChanged: false)
    }
    func forgetTypes() { areTypesKnown = false }
    func granted(_ slice: UInt32, epoch: UInt64) { self.slice = slice }
    func stage(value: Span<UInt8>, isAbsent: Bool, sequence: UInt64) throws(WireError) {
        lastByteCount = value.count
        try read("value")
    }
    func stage(patch: Span<UInt8>, sequence: UInt64) throws(WireError) { try read("patch") }
    func stage(delta: Span<UInt8>, from offset: Int) throws(WireError) { try read("delta") }
    func setMode(_ mode: SubscriptionMode) { modes.append(mode) }
    func discard() {}
    func commit(epoch: UInt64) { commits += 1 }
    func announce() {}
    func setLive(_ isLive: Bool) {}
    func fail(_ error: ClientError) {
        errors.append(error)
        onFail?()
    }
}
