import ReactorCore
import ReactorServer
import StockReactors
import Testing

@testable import ReactorClient

/// A client that receives a stream which no daemon sends.
@Suite("Subscription")
struct SubscriptionTests {
    private typealias Counter = StockReactors.Counter

    /// A client with a mirror of `/visits`, and another that writes to it.
    private struct Pair {
        let rig: Rig
        let reader: Rig.Joined
        let mirror: ReactorClient.Mirror<Counter>
        private let writer: Rig.Joined
        private let node: NodeID

        init(_ options: ClientOptions = ClientOptions()) throws {
            rig = Rig()
            reader = rig.client(options)
            writer = rig.client()
            mirror = try reader.mirror("/visits", rig)
            node = try writer.open("/visits", rig)
        }

        func add(_ amount: Int64) throws {
            try writer.machine.dispatch(Counter.Action.increment(by: amount), to: node)
            rig.run()
        }

        /// The reader's subscriptions so far: for each, whether it requested a snapshot.
        var asked: [Bool] {
            get throws {
                try reader.sent.filter { $0.kind == .subscribe }
                    .map { try Subscribe(wireBytes: $0.body).from == nil }
            }
        }
    }

    /// Ways to spoil a write that has a delta and a mark.
    enum Spoiler: String, CaseIterable, Sendable {
        case repeated, late, reordered, markGoesBack, foreignValue, emptyDelta
        case oneByteShort, twoBytesShort, threeBytesShort, fourBytesShort

        func apply(_ frames: [Frame]) -> [UInt8] {
            guard var delta = frames.first(where: { $0.kind == .delta }),
                var mark = frames.first(where: { $0.kind == .mark })
            else { return frames.bytes }
            switch self {
            case .repeated: return frames.bytes + frames.bytes
            case .late:
                delta.header.number += 1
                return [delta, mark].bytes
            case .reordered:
                var later = delta
                later.header.number += 1
                mark.header.number += 1
                return [later, delta, mark].bytes
            case .markGoesBack:
                mark.header.number -= 1
                return frames.bytes + mark.bytes
            case .oneByteShort: return Array(frames.bytes.dropFirst(1))
            case .twoBytesShort: return Array(frames.bytes.dropFirst(2))
            case .threeBytesShort: return Array(frames.bytes.dropFirst(3))
            case .fourBytesShort: return Array(frames.bytes.dropFirst(4))
            case .foreignValue:
                return [Frame(.value, id: delta.header.id, number: delta.header.number, [0]), mark]
                    .bytes
            case .emptyDelta:
                return [Frame(delta.header), mark].bytes
            }
        }
    }

    @Test(
        "C89: a frame out of sequence ends the connection; then the mirror is correct again",
        arguments: Spoiler.allCases)
    func spoiled(_ spoiler: Spoiler) throws {
        let pair = try Pair()
        try pair.add(1)
        #expect(pair.mirror.count == 1 && pair.reader.connectCount == 1)
        var isSpoiled = false
        pair.reader.onDown = { frames in
            guard !isSpoiled, frames.contains(where: { $0.kind == .delta }) else {
                return frames.bytes
            }
            isSpoiled = true
            return spoiler.apply(frames)
        }
        try pair.add(10)
        #expect(isSpoiled && pair.reader.connectCount == 2)
        #expect(pair.mirror.count == 11 && pair.mirror.phase == .live)
        try pair.add(100)
        #expect(pair.mirror.count == 111 && pair.reader.connectCount == 2)
    }

    @Test("C89: a subscription that an update ends reports its error before the lost connection")
    func endedBeforeFault() throws {
        let rig = Rig()
        let client = rig.client()
        let (broken, sound) = (StagedSink(), StagedSink())
        client.machine.follow("/visits", .value, broken)
        client.machine.follow("/other", .value, sound)
        rig.run()
        var events: [String] = []
        broken.onFail = { events.append("ended") }
        client.machine.onPhase = { events.append("\($0)") }
        broken.isBroken = true
        let mark = client.machine.revision.sequence + 1
        // The first update ends its subscription; the second is the daemon's fault.
        let frames = [
            Frame(.value, id: try #require(broken.slice), number: mark, [0]),
            Frame(.value, id: try #require(sound.slice), number: mark + 1, [0]),
            Frame(.mark, number: mark),
        ]
        rig.forge(frames.bytes, to: client)
        #expect(events.first == "ended" && events.count == 2)
        guard case .incompatible(path: "/visits", _)? = broken.errors.first else {
            Issue.record("the subscription ended with \(broken.errors)")
            return
        }
        rig.run()
        #expect(client.connectCount == 2 && broken.errors.count == 1 && sound.errors.isEmpty)
    }

    @Test("C89: after a delta out of order, the client requests a snapshot")
    func asksForSnapshot() throws {
        let pair = try Pair()
        try pair.add(1)
        pair.reader.onDown = { frames in
            let isDelta = frames.contains { $0.kind == .delta }
            return isDelta && pair.reader.connectCount == 1
                ? Spoiler.reordered.apply(frames) : frames.bytes
        }
        try pair.add(10)
        #expect(try pair.asked == [true, true])
    }

    @Test("C89: after a lost connection, a mirror continues from the revision that it shows")
    func resumes() throws {
        let pair = try Pair()
        try pair.add(1)
        pair.rig.cut(pair.reader)
        try pair.add(10)
        #expect(try pair.asked == [true, false])
        #expect(pair.mirror.count == 11)
    }

    @Test("C89: a mirror never shows a part of a spoiled write")
    func neverHalf() throws {
        for spoiler in Spoiler.allCases {
            let pair = try Pair()
            try pair.add(1)
            var shown: [Int64] = []
            pair.reader.onDown = { frames in
                shown.append(pair.mirror.count)
                let isDelta = frames.contains { $0.kind == .delta }
                return isDelta && pair.reader.connectCount == 1
                    ? spoiler.apply(frames) : frames.bytes
            }
            try pair.add(10)
            #expect(Set(shown).isSubset(of: [1, 11]), "\(spoiler)")
        }
    }

    @Test("repeated unreadable deltas end the mirror with the reason")
    func unreadable() throws {
        let pair = try Pair()
        pair.reader.onDown = { frames in
            frames.map { frame in
                guard frame.kind == .delta else { return frame }
                // 0x82 0 0 is the origin, and the mutation after it is no case of a counter.
                return Frame(frame.header, [0x82, 0, 0, 0x61, 0x78])
            }.bytes
        }
        for _ in 0..<10 { try pair.add(1) }
        guard case .failed(.incompatible(let path, _)) = pair.mirror.phase else {
            Issue.record("expected incompatible, got \(pair.mirror.phase)")
            return
        }
        #expect(path == "/visits")
        #expect(pair.reader.connectCount == 3 && pair.reader.machine.phase == .live)
    }

    @Test("an unreadable delta is forgiven after the next readable one")
    func rarelyUnreadable() throws {
        let pair = try Pair()
        var count = 0
        pair.reader.onDown = { frames in
            frames.map { frame in
                guard frame.kind == .delta else { return frame }
                count += 1
                return count % 2 == 0 ? Frame(frame.header, [0x82, 0, 0, 0x61, 0x78]) : frame
            }.bytes
        }
        for _ in 0..<20 { try pair.add(1) }
        #expect(pair.mirror.phase == .live && pair.mirror.count == 20)
        #expect(pair.reader.connectCount == 11)
    }

    @Test("stagedBytesMax limits the parts of a value that never ends")
    func endlessParts() throws {
        var options = ClientOptions()
        options.stagedBytesMax = 10_000
        let pair = try Pair(options)
        try pair.add(1)
        var parts = 0
        pair.reader.onDown = { frames in
            guard pair.reader.connectCount == 1,
                let delta = frames.first(where: { $0.kind == .delta })
            else { return frames.bytes }
            var bytes: [UInt8] = []
            var part = Frame(
                .snapshot, id: delta.header.id, number: delta.header.number,
                [UInt8](repeating: 0, count: 1_000))
            part.header.flags = .more
            for _ in 0..<50 {
                parts += 1
                bytes += part.bytes
                bytes += Frame(.mark, number: delta.header.number).bytes
            }
            return bytes
        }
        try pair.add(10)
        #expect(parts == 50 && pair.reader.connectCount == 2)
        #expect(pair.mirror.count == 11)
    }

    @Test("stagedBytesMax limits the updates without a mark")
    func endlessUpdates() throws {
        var options = ClientOptions()
        options.stagedBytesMax = 10_000
        let pair = try Pair(options)
        try pair.add(1)
        pair.reader.onDown = { frames in
            guard pair.reader.connectCount == 1,
                let delta = frames.first(where: { $0.kind == .delta })
            else { return frames.bytes }
            return [Frame](repeating: delta, count: 1_000).bytes
        }
        try pair.add(10)
        #expect(pair.reader.connectCount == 2 && pair.mirror.count == 11)
    }
}
