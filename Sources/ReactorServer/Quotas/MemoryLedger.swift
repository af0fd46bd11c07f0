import ReactorBytes
import ReactorWire

/// Bytes that the server keeps for a client or a user, by what needs them.
package struct MemoryCharge: Equatable, Sendable {
    /// Memory for input that is not handled.
    package var input = 0
    /// Updates, outcomes and replies that wait for a socket, in the unit of
    /// ``ServerLimits/queueBytesMax``.
    package var output = 0
    /// Large answers that are being read, each counted once.
    package var answers = 0
    /// Outcomes that sessions remember.
    package var outcomes = 0
    /// States of the past that are restored for the user's questions: see ``MemoryGrants``.
    package var past = 0

    /// Nothing.
    package init() {}

    /// What a connection keeps, without the outcomes of its session.
    init(of connection: Connection) {
        input = connection.inlet.value.keptByteCount
        output = connection.outlet.value.queuedByteCount
        if connection.outlet.value.hasStreams {
            answers = connection.outlet.value.answers.reduce(0) { $0 + $1.bytes.count }
        }
    }

    /// The sum of all kinds.
    package var total: Int { input + output + answers + outcomes + past }

    /// The bytes of each kind, by its name.
    fileprivate var kinds: [(name: String, byteCount: Int)] {
        [
            ("input", input), ("output", output), ("answers", answers), ("outcomes", outcomes),
            ("states of the past", past),
        ]
    }

    static func += (sum: inout MemoryCharge, more: MemoryCharge) {
        sum.input += more.input
        sum.output += more.output
        sum.answers += more.answers
        sum.outcomes += more.outcomes
        sum.past += more.past
    }
}

/// The bytes that the server keeps for the clients of each user.
///
///     let ledger = MemoryLedger(of: connections, sessions, room)
///     let charge = ledger.charges[uid]
///
/// *Place*: computed on demand, from the counters that inlets, outlets, answers and sessions need
/// for their own limits. So a frame costs nothing more. *Shape*: a value. An answer that several
/// connections of a user read counts once for that user. ``differences(from:)`` compares each charge
/// with the buffers. *Cost*: O(connections and sessions).
struct MemoryLedger {
    /// The charge of each user with a connection, a session or a question about the past.
    var charges: [UInt32: MemoryCharge] = [:]

    /// Adds up what is kept now.
    init(of connections: ConnectionTable, _ sessions: SessionTable, _ room: MemoryGrants) {
        var counted: [UInt32: Set<ObjectIdentifier>] = [:]
        for connection in connections.values {
            let uid = connection.peer.uid
            var charge = MemoryCharge(of: connection)
            if connection.outlet.value.hasStreams {
                charge.answers = 0
                for answer in connection.outlet.value.answers
                where counted[uid, default: []].insert(ObjectIdentifier(answer)).inserted {
                    charge.answers += answer.bytes.count
                }
            }
            charges[uid, default: MemoryCharge()] += charge
        }
        for session in sessions.values {
            charges[session.uid, default: MemoryCharge()].outcomes += session.outcomeBytes
        }
        for (uid, byteCount) in room.pastByteCounts {
            charges[uid, default: MemoryCharge()].past += byteCount
        }
    }

    /// A text for each charge that differs from what is held.
    func differences(from held: HeldMemory) -> [String] {
        var texts: [String] = []
        for uid in Set(charges.keys).union(held.charges.keys).sorted() {
            let (counted, found) = (charges[uid]?.kinds, held.charges[uid]?.kinds)
            let none = MemoryCharge().kinds
            for (left, right) in zip(counted ?? none, found ?? none)
            where left.byteCount != right.byteCount {
                texts.append(
                    "\(left.name) of uid \(uid): \(left.byteCount) bytes are counted, "
                        + "\(right.byteCount) are held")
            }
        }
        return texts
    }
}

/// What the buffers of connections and sessions hold, measured one by one, for a comparison with the
/// counters.
///
/// *Place*: tests compare it with the ``MemoryLedger`` after each step. *Cost*: copies all input, and
/// visits each segment, answer and outcome.
struct HeldMemory {
    /// The bytes of each user.
    private(set) var charges: [UInt32: MemoryCharge] = [:]
    /// Bytes of all answers that a connection reads, each counted once.
    private(set) var answerByteCount = 0
    /// Bytes of the outcomes of sessions without a connection, as each was last weighed.
    private(set) var leftByteCount = 0

    init(of connections: ConnectionTable, _ sessions: SessionTable, _ room: MemoryGrants) {
        var answers: [UInt32: [ObjectIdentifier: Int]] = [:]
        var all: [ObjectIdentifier: Int] = [:]
        for connection in connections.values {
            var charge = MemoryCharge()
            charge.input = connection.inlet.value.storedBytes.count
            connection.outlet.value.visitSegments { segment in
                charge.output += segment.bytes[segment.range].count + Segment.overheadByteCount
            }
            charges[connection.peer.uid, default: MemoryCharge()] += charge
            for answer in connection.outlet.value.answers {
                answers[connection.peer.uid, default: [:]][ObjectIdentifier(answer)] =
                    answer.bytes.count
                all[ObjectIdentifier(answer)] = answer.bytes.count
            }
        }
        for (uid, answers) in answers {
            charges[uid, default: MemoryCharge()].answers = answers.values.reduce(0, +)
        }
        answerByteCount = all.values.reduce(0, +)
        for session in sessions.values {
            let byteCount = session.heldOutcomeBytes
            charges[session.uid, default: MemoryCharge()].outcomes += byteCount
            if session.connection == nil { leftByteCount += session.weighedBytes }
        }
        for claim in room.claims {
            charges[claim.uid, default: MemoryCharge()].past += claim.byteCount
        }
    }
}

/// What the clients of one user keep together, without outcomes: the bytes of a buffer, or of an answer, for which
/// several of them wait count once.
///
/// *Place*: decides whether a user is above its limit, where the ``MemoryLedger``, which counts them
/// for each connection, finds more than the limit. *Cost*: O(what waits).
struct SharedCharge {
    /// Bytes that only one connection keeps.
    private var ownByteCount = 0
    /// The size of each buffer, and the sum of the ranges of it that wait.
    private var buffers: [UInt: (byteCount: Int, sum: Int)] = [:]
    private var answers: [ObjectIdentifier: Int] = [:]
    private var pastByteCount = 0

    /// Adds a connection.
    mutating func add(_ connection: Connection) {
        ownByteCount += connection.inlet.value.keptByteCount
        connection.outlet.value.visitSegments { segment in
            ownByteCount += Segment.overheadByteCount
            let number = ByteSlice(segment.bytes).storageNumber
            buffers[number, default: (segment.bytes.count, 0)].sum += segment.range.count
        }
        for answer in connection.outlet.value.answers {
            answers[ObjectIdentifier(answer)] = answer.bytes.count
        }
    }

    /// Adds a state of the past.
    mutating func add(past byteCount: Int) { pastByteCount += byteCount }

    private var parts: [Int] {
        [pastByteCount] + buffers.values.map { min($0.byteCount, $0.sum) } + answers.values
    }

    /// The bytes of all connections.
    var total: Int { parts.reduce(ownByteCount, +) }

    /// The bytes without the largest buffer or answer: a snapshot of a large state is in one piece.
    var totalBesidesLargest: Int { total - (parts.max() ?? 0) }
}
