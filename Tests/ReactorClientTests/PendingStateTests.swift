import ReactorCore
import Testing

@testable import ReactorClient

struct PendingStateTests {
    /// A journal with a session, a node and three actions, the first of which has an outcome; and
    /// the end of each record.
    private static let sample: (bytes: [UInt8], ends: [Int]) = {
        var writer = WireWriter()
        writer.raw(PendingRecord.magic)
        var ends = [writer.count]
        func add(_ kind: PendingRecord.Kind, _ payload: [UInt8]) {
            PendingRecord.append(kind, payload.span, to: &writer)
            ends.append(writer.count)
        }
        add(
            .session,
            KeptSession(secret: [UInt8](1...16), epoch: 7, since: 3, last: 0).wireBytes())
        add(.node, KeptNode(id: 3, path: "/visits").wireBytes())
        var frames: [UInt8] = []
        for ordinal in 1...3 as ClosedRange<UInt64> { frames += frame(ordinal) }
        add(.actions, Array(frames.prefix(frames.count / 3 * 2)))
        add(.actions, Array(frames.suffix(frames.count / 3)))
        var one = WireWriter()
        one.word(1, byteCount: 8)
        add(.concluded, one.bytes)
        return (writer.bytes, ends)
    }()

    private static func frame(_ ordinal: UInt64) -> [UInt8] {
        Frame(.dispatch, id: 3, number: ordinal, [0xa0]).bytes
    }

    @Test("C88: the journal is read back: session, paths, and actions without an outcome")
    func whole() throws {
        let state = try PendingState(Self.sample.bytes)
        #expect(state.session == KeptSession(secret: [UInt8](1...16), epoch: 7, since: 3, last: 0))
        #expect(state.paths == [3: "/visits"])
        #expect(state.frames == [2: Self.frame(2), 3: Self.frame(3)])
        #expect(state.last == 3 && state.concluded == 1)
        #expect(state.byteCount == Self.sample.bytes.count)
    }

    @Test("C88: cut after any byte, a journal yields its complete records")
    func torn() throws {
        let (bytes, ends) = Self.sample
        for count in 0..<bytes.count {
            let state = try PendingState(Array(bytes.prefix(count)))
            #expect(state.byteCount == ends.last { $0 <= count } ?? 0)
            #expect(state.last == (count >= ends[4] ? 3 : count >= ends[3] ? 2 : 0))
        }
    }

    @Test("C88: a journal with any bit flipped before its end is refused; a torn end is left out")
    func flipped() throws {
        let (bytes, ends) = Self.sample
        let lastStart = ends[ends.count - 2]
        for bit in (ends[0] * 8)..<(bytes.count * 8) {
            var other = bytes
            other[bit / 8] ^= 1 << UInt8(bit % 8)
            if bit / 8 < lastStart {
                #expect(throws: ClientError.self) { try PendingState(other) }
            } else {
                #expect(try PendingState(other).byteCount == lastStart)
            }
        }
    }

    @Test("a file of another program is refused, and not truncated")
    func foreign() {
        #expect(throws: ClientError.self) { try PendingState(Array("#!/bin/sh\n".utf8)) }
        let store = ArrayStore(Array("precious".utf8))
        #expect(throws: ClientError.self) { try ClientJournal(store) }
        #expect(store.bytes == Array("precious".utf8))
    }
}
