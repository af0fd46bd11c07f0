import ReactorBytes
import ReactorCore
import ReactorWire

/// The large answers in progress, each encoded once.
///
/// *Place*: the server sends an answer to each of its connections in parts. The newest answer of
/// each slice stays for some seconds, for clients that request the same. ``invariants()`` states
/// the invariants.
struct AnswerTable {
    /// The slice and the state that an answer encodes.
    private struct Entry {
        var answer: Answer
        var state: SliceState
        var isThere: Bool
        /// Time of the last request, in nanoseconds.
        var usedAt: UInt64
    }

    private var entries: [SliceName: Entry] = [:]
    /// Bytes of all answers, kept or in progress.
    private(set) var byteCount = 0
    /// Bytes of the answers in progress.
    private(set) var busyByteCount = 0
    /// Bytes of the smallest answer that was refused for lack of room since the last call of
    /// ``takeRefusal()``.
    private var refusedByteCount: Int?

    // A client that polls repeats its request within seconds.
    /// Nanoseconds for which an answer is kept after its last reader.
    static let idleNanoseconds: UInt64 = 5_000_000_000

    /// Keeps an encoding for all its readers, in place of an older one of the same slice.
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

    /// Whether an answer to one request fits into `byteCountMax` bytes for all answers, or no other
    /// answer is in progress.
    mutating func makeRoom(for byteCount: Int, _ byteCountMax: Int) -> Bool {
        if self.byteCount + byteCount > byteCountMax { dropIdle() }
        if busyByteCount == 0 || self.byteCount + byteCount <= byteCountMax { return true }
        refusedByteCount = min(byteCount, refusedByteCount ?? byteCount)
        return false
    }

    /// Bytes of the smallest answer that ``makeRoom(for:_:)`` has refused since the last call.
    mutating func takeRefusal() -> Int? { refusedByteCount.take() }

    /// An answer to one request, which is not reused.
    mutating func single(_ bytes: [UInt8]) -> Answer {
        byteCount += bytes.count
        return Answer(bytes, isKept: false)
    }

    /// The kept answer for a slice of `node`, if the slice has not changed since.
    mutating func answer(
        to name: SliceName, of node: AnyNode, at now: UInt64
    ) -> (answer: Answer, isThere: Bool)? {
        guard let entry = entries[name], entry.state.isCurrent(of: node) else { return nil }
        entries[name]?.usedAt = now
        return (entry.answer, entry.isThere)
    }

    /// Counts a connection that reads the answer.
    mutating func retain(_ answer: Answer) {
        if answer.retain() { busyByteCount += answer.bytes.count }
        invariants()
    }

    /// Counts a connection less: it has the whole answer, or gets no more of it.
    mutating func release(_ answer: Answer) {
        guard answer.release() else { return }
        busyByteCount -= answer.bytes.count
        if !answer.isKept { byteCount -= answer.bytes.count }
        invariants()
    }

    /// Drops answers that no connection reads and none has requested for ``idleNanoseconds``.
    mutating func dropIdle(at now: UInt64) {
        for (name, entry) in entries
        where entry.answer.takerCount == 0 && now &- entry.usedAt >= Self.idleNanoseconds {
            drop(name)
        }
    }

    /// Drops all answers that no connection reads.
    mutating func dropIdle() {
        for (name, entry) in entries where entry.answer.takerCount == 0 { drop(name) }
    }

    private mutating func drop(_ name: SliceName) {
        guard let answer = entries.removeValue(forKey: name)?.answer else { return }
        answer.forget()
        if answer.takerCount == 0 { byteCount -= answer.bytes.count }
        invariants()
    }

    /// Checks the invariants, in debug builds.
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

/// The large answers that the connections of each user read at one moment, each counted once.
///
/// *Place*: ``AnswerService`` lets a user have ``ServerLimits/heavyPerUIDMax`` of them. *Cost*:
/// O(connections) to make.
struct LargeAnswers {
    private var read: [UInt32: Set<ObjectIdentifier>] = [:]

    /// Finds the answers of more than `byteCountMax` bytes.
    init(_ connections: some Sequence<Connection>, above byteCountMax: Int) {
        for connection in connections where connection.outlet.value.hasStreams {
            for answer in connection.outlet.value.answers where answer.bytes.count > byteCountMax {
                read[connection.peer.uid, default: []].insert(ObjectIdentifier(answer))
            }
        }
    }

    /// Number of large answers that a user reads.
    func readCount(of uid: UInt32) -> Int { read[uid]?.count ?? 0 }

    /// Whether a user of these requests reads `answer` already, or fewer than `countMax`.
    func admits(_ answer: Answer, for askers: [Asker], countMax: Int) -> Bool {
        askers.contains { asker in
            guard let own = read[asker.connection.peer.uid] else { return true }
            return own.count < countMax || own.contains(ObjectIdentifier(answer))
        }
    }
}
