import ReactorWire

/// Sessions that ended and whose clients may still come back, so that none of them is taken for one
/// of which nothing was ever kept.
///
/// Their number is bounded: of those that are forgotten the last end is known, and who began before
/// that may be one of them.
struct EndedSessions: Sendable {
    /// Most sessions that are remembered one by one.
    static let countMax = 16_384

    private var order = ArrivalOrder<[UInt8]>()
    private var sequences: [[UInt8]: UInt64] = [:]
    /// The highest sequence at which one ended that is forgotten; none, if none is.
    private(set) var forgottenUpTo: UInt64?

    var count: Int { order.count }

    /// What is remembered, the first in front.
    var all: [EndedSession] {
        order.all.map { EndedSession(secret: $0, sequence: sequences[$0] ?? 0) }
    }

    /// Remembers that a session ended when `sequence` was the last transaction.
    mutating func note(_ secret: [UInt8], at sequence: UInt64) {
        order.append(secret)
        sequences[secret] = max(sequences[secret] ?? 0, sequence)
        guard order.count > Self.countMax, let first = order.popFirst() else { return }
        forget(upTo: sequences.removeValue(forKey: first) ?? sequence)
    }

    /// Takes note that sessions are forgotten that ended at this sequence, or before.
    mutating func forget(upTo sequence: UInt64) {
        forgottenUpTo = max(forgottenUpTo ?? 0, sequence)
    }

    /// Whether a session may have ended; `since` is a sequence at which it stood, where its client
    /// tells one.
    func mayHold(_ secret: [UInt8], since: UInt64?) -> Bool {
        if sequences[secret] != nil { return true }
        guard let forgottenUpTo else { return false }
        guard let since else { return true }
        return since <= forgottenUpTo
    }
}

/// A session that ended, as it rests in a snapshot.
@WireCodable
struct EndedSession: Equatable, Sendable {
    var secret: [UInt8]
    /// The last transaction when it ended.
    var sequence: UInt64
}
