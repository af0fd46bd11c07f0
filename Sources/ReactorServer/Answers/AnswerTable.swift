import ReactorCore
import ReactorWire

/// An encoded answer that all connections share that are sent it.
final class Answer {
    let bytes: [UInt8]
    /// Connections that are being sent it.
    fileprivate(set) var takers = 0
    /// Whether the next question about the same may be answered with it.
    fileprivate(set) var isKept: Bool

    fileprivate init(_ bytes: [UInt8], isKept: Bool) {
        self.bytes = bytes
        self.isKept = isKept
    }
}

/// The large answers that are under way, each encoded once.
///
/// *Place*: a server gives connections shares of them, which each is sent in parts as it takes them.
/// The newest of each slice stays for a moment, for clients that ask for the same.
struct AnswerTable {
    /// What an answer is of.
    private struct Entry {
        var answer: Answer
        var state: SliceState
        var isThere: Bool
        /// When it was asked for last, in nanoseconds.
        var usedAt: UInt64
    }

    private var entries: [SliceName: Entry] = [:]
    /// Bytes of all answers that are kept or under way.
    private(set) var byteCount = 0
    /// Bytes of those that are under way.
    private(set) var busyByteCount = 0
    /// Whether an answer was refused for lack of room since ``takeRefusal()`` was called last.
    private var isRefused = false

    // because a client that asks again and again asks within seconds
    /// Nanoseconds for which an answer that no connection is sent is kept.
    static let idleNanoseconds: UInt64 = 5_000_000_000

    /// Keeps an encoding for all that ask for it, in place of an older one of the same slice.
    mutating func keep(
        _ encoding: SliceEncoding, of name: SliceName, _ state: SliceState, at now: UInt64
    ) -> Answer {
        drop(name)
        let answer = Answer(encoding.bytes, isKept: true)
        byteCount += answer.bytes.count
        entries[name] = Entry(
            answer: answer, state: state, isThere: encoding.isThere, usedAt: now)
        return answer
    }

    /// Whether there is room for an answer to one question among `byteCountMax` bytes of all, or no
    /// other answer is under way.
    mutating func makeRoom(for byteCount: Int, _ byteCountMax: Int) -> Bool {
        if self.byteCount + byteCount > byteCountMax { dropIdle() }
        if busyByteCount == 0 || self.byteCount + byteCount <= byteCountMax { return true }
        isRefused = true
        return false
    }

    /// Whether ``makeRoom(for:_:)`` has refused an answer since the last call.
    mutating func takeRefusal() -> Bool {
        defer { isRefused = false }
        return isRefused
    }

    /// An answer to one question, which no other question is answered with.
    mutating func single(_ bytes: [UInt8]) -> Answer {
        byteCount += bytes.count
        return Answer(bytes, isKept: false)
    }

    /// The answer that still holds what stands at a slice of `node`.
    mutating func find(
        _ name: SliceName, of node: AnyNode, at now: UInt64
    ) -> (answer: Answer, isThere: Bool)? {
        guard let entry = entries[name], entry.state.isCurrent(of: node) else { return nil }
        entries[name]?.usedAt = now
        return (entry.answer, entry.isThere)
    }

    /// A connection is sent the answer from here on.
    mutating func take(_ answer: Answer) {
        answer.takers += 1
        if answer.takers == 1 { busyByteCount += answer.bytes.count }
    }

    /// A connection has been sent all of it, or is not sent the rest.
    mutating func release(_ answer: Answer) {
        precondition(answer.takers > 0, "an answer is released by more than have taken it")
        answer.takers -= 1
        guard answer.takers == 0 else { return }
        busyByteCount -= answer.bytes.count
        if !answer.isKept { byteCount -= answer.bytes.count }
    }

    /// Forgets answers that no connection is sent, and none has asked for lately.
    mutating func dropIdle(at now: UInt64) {
        for (name, entry) in entries
        where entry.answer.takers == 0 && now &- entry.usedAt >= Self.idleNanoseconds {
            drop(name)
        }
    }

    /// Forgets all answers that no connection is sent.
    mutating func dropIdle() {
        for (name, entry) in entries where entry.answer.takers == 0 { drop(name) }
    }

    private mutating func drop(_ name: SliceName) {
        guard let answer = entries.removeValue(forKey: name)?.answer else { return }
        answer.isKept = false
        if answer.takers == 0 { byteCount -= answer.bytes.count }
    }
}

/// An answer on its way to one connection.
struct AnswerStream {
    /// The request that it answers.
    let number: UInt64
    /// What stands in front of the shared bytes.
    let prefix: [UInt8]
    let answer: Answer
    /// The turn that it is an output of: it leaves when that turn's batch is appended.
    let turn: UInt64
    /// When the socket took a part last, in nanoseconds.
    private(set) var movedAt: UInt64
    /// Bytes of prefix and answer that were sent.
    private var offset = 0

    init(_ number: UInt64, _ prefix: [UInt8], _ answer: Answer, turn: UInt64, at now: UInt64) {
        self.number = number
        self.prefix = prefix
        self.answer = answer
        self.turn = turn
        movedAt = now
    }

    /// Whether all of it was sent.
    var isComplete: Bool { offset == prefix.count + answer.bytes.count }

    /// Appends the next part as a frame; all but the last say "more".
    mutating func appendPart(to writer: inout WireWriter, at now: UInt64) {
        movedAt = now
        let total = prefix.count + answer.bytes.count
        let end = min(total, offset + WireWriter.partBytesMax)
        let frame = writer.beginFrame(.answer, flags: end < total ? .more : [], number: number)
        if offset < prefix.count {
            writer.raw(prefix.span.extracting(offset..<min(end, prefix.count)))
        }
        if end > prefix.count {
            let bytes = answer.bytes
            let start = max(offset, prefix.count) - prefix.count
            writer.raw(bytes.span.extracting(start..<(end - prefix.count)))
        }
        writer.endFrame(at: frame)
        offset = end
    }
}
