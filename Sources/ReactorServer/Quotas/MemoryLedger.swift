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
    package var total: Int { input + output + answers + outcomes }

    static func += (sum: inout MemoryCharge, more: MemoryCharge) {
        sum.input += more.input
        sum.output += more.output
        sum.answers += more.answers
        sum.outcomes += more.outcomes
    }
}

/// The bytes that the server keeps for the clients of each user.
///
///     let ledger = MemoryLedger(of: connections, sessions)
///     let charge = ledger.charges[uid]
///
/// *Place*: computed on demand, from the counters that inlets, outlets, answers and sessions need
/// for their own limits. So a frame costs nothing more. *Shape*: a value. An answer that several
/// connections of a user read counts once for that user; ``differences(from:_:answerByteCount:)``
/// compares the rest with its parts. *Cost*: O(connections and sessions).
struct MemoryLedger {
    /// The charge of each user with a connection or a session.
    private(set) var charges: [UInt32: MemoryCharge] = [:]

    /// Adds up what is kept now.
    init(of connections: ConnectionTable, _ sessions: SessionTable) {
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
    }

    /// The sum of all users.
    var total: MemoryCharge {
        charges.values.reduce(into: MemoryCharge()) { $0 += $1 }
    }

    /// Adds up the parts a second time, from what they hold instead of from their counters; returns
    /// a text for each difference. `answerByteCount` is the server's count of answers that are
    /// being read.
    func differences(
        from connections: ConnectionTable, _ sessions: SessionTable, answerByteCount: Int
    ) -> [String] {
        var held = MemoryCharge()
        var answers: [ObjectIdentifier: Int] = [:]
        for connection in connections.values {
            held.input += connection.inlet.value.keptByteCount
            held.output += connection.outlet.value.heldCost
            for answer in connection.outlet.value.answers {
                answers[ObjectIdentifier(answer)] = answer.bytes.count
            }
        }
        var left = 0
        for session in sessions.values {
            held.outcomes += session.heldOutcomeBytes
            if session.connection == nil { left += session.weighedBytes }
        }
        held.answers = answers.values.reduce(0, +)
        let rows = [
            ("input", total.input, held.input), ("output", total.output, held.output),
            ("outcomes", total.outcomes, held.outcomes),
            ("outcomes of disconnected sessions", sessions.leftBytes, left),
            ("answers", answerByteCount, held.answers),
        ]
        return rows.filter { $0.1 != $0.2 }.map {
            "\($0.0): \($0.1) bytes are counted, \($0.2) are held"
        }
    }
}

/// What the connections of one user keep together: the bytes of a buffer, or of an answer, for which
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

    private var parts: [Int] {
        buffers.values.map { min($0.byteCount, $0.sum) } + answers.values
    }

    /// The bytes of all connections.
    var total: Int { parts.reduce(ownByteCount, +) }

    /// The bytes without the largest buffer or answer: a snapshot of a large state is in one piece.
    var totalBesidesLargest: Int { total - (parts.max() ?? 0) }
}
