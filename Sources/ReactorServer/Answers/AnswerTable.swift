import ReactorCore
import ReactorWire

/// The large answers that are under way, each encoded once.
///
/// *Place*: a server gives connections shares of them, which each is sent in parts as it takes them.
/// The newest of each slice stays for a moment, for clients that ask for the same. ``invariants()``
/// states what holds between two verbs.
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
    /// Bytes of the smallest answer that was refused for lack of room since ``takeRefusal()`` was
    /// called last.
    private var refusedByteCount: Int?

    // A client that polls asks within seconds.
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
        invariants()
        return answer
    }

    /// Whether there is room for an answer to one question among `byteCountMax` bytes of all, or no
    /// other answer is under way.
    mutating func makeRoom(for byteCount: Int, _ byteCountMax: Int) -> Bool {
        if self.byteCount + byteCount > byteCountMax { dropIdle() }
        if busyByteCount == 0 || self.byteCount + byteCount <= byteCountMax { return true }
        refusedByteCount = min(byteCount, refusedByteCount ?? byteCount)
        return false
    }

    /// Bytes of the smallest answer that ``makeRoom(for:_:)`` has refused since the last call.
    mutating func takeRefusal() -> Int? { refusedByteCount.take() }

    /// An answer to one question, which no other question is answered with.
    mutating func single(_ bytes: [UInt8]) -> Answer {
        byteCount += bytes.count
        return Answer(bytes, isKept: false)
    }

    /// The answer that still holds what stands at a slice of `node`.
    mutating func answer(
        to name: SliceName, of node: AnyNode, at now: UInt64
    ) -> (answer: Answer, isThere: Bool)? {
        guard let entry = entries[name], entry.state.isCurrent(of: node) else { return nil }
        entries[name]?.usedAt = now
        return (entry.answer, entry.isThere)
    }

    /// A connection is sent the answer from here on.
    mutating func retain(_ answer: Answer) {
        if answer.retain() { busyByteCount += answer.bytes.count }
        invariants()
    }

    /// A connection has been sent all of it, or is not sent the rest.
    mutating func release(_ answer: Answer) {
        guard answer.release() else { return }
        busyByteCount -= answer.bytes.count
        if !answer.isKept { byteCount -= answer.bytes.count }
        invariants()
    }

    /// Forgets answers that no connection is sent, and none has asked for lately.
    mutating func dropIdle(at now: UInt64) {
        for (name, entry) in entries
        where entry.answer.takerCount == 0 && now &- entry.usedAt >= Self.idleNanoseconds {
            drop(name)
        }
    }

    /// Forgets all answers that no connection is sent.
    mutating func dropIdle() {
        for (name, entry) in entries where entry.answer.takerCount == 0 { drop(name) }
    }

    private mutating func drop(_ name: SliceName) {
        guard let answer = entries.removeValue(forKey: name)?.answer else { return }
        answer.forget()
        if answer.takerCount == 0 { byteCount -= answer.bytes.count }
        invariants()
    }

    /// What holds between two verbs; checked in debug builds.
    @inline(__always)
    private func invariants() {
        assert(
            busyByteCount >= 0 && busyByteCount <= byteCount,
            "\(busyByteCount) bytes of \(byteCount) are under way")
        assert(
            entries.count > 32
                || entries.values.reduce(0) { $0 + $1.answer.bytes.count } <= byteCount
                    && entries.values.allSatisfy { $0.answer.isKept },
            "the kept answers have more than \(byteCount) bytes")
    }
}
