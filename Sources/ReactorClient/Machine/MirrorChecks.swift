import ReactorBytes
import ReactorCore

/// Mirrors that are being compared with the daemon; see ``Mirror/verify()``.
///
/// A comparison asks for the checksum of the slice and sums up the mirror at the answer's revision.
/// Where the two differ, it waits until the mirror has restarted with a snapshot.
///
/// *Place*: a part of ``ClientMachine``.
struct MirrorChecks: ~Copyable {
    typealias Completion = (Result<Bool, ClientError>) -> Void

    private var checks: [Check] = []
    /// Requested checksums that have not arrived, by the numbers of the requests.
    private var requests: [UInt64: Request] = [:]

    /// The mirror of one comparison, and the call that waits for its result.
    struct Subject {
        let subscription: Subscription
        /// The mirror's sink; it may leave the subscription before the comparison is over.
        let sink: any SliceSink
        let completion: Completion
    }

    private struct Check {
        let subject: Subject
        var stage: Stage
        /// The mirror's checksum at the mark that the daemon announced.
        var own: OwnChecksum?
    }

    private enum Stage {
        /// The checksum that the mirror must have when it shows that revision.
        case comparing(SliceChecksum)
        /// The mirror differed, and gets a snapshot.
        case mending
    }

    /// A mirror's checksum at a revision.
    private struct OwnChecksum {
        var revision: Revision
        var checksum: UInt64?
    }

    /// The daemon sums up a large slice outside its loop and answers turns later. An empty part
    /// announces that the checksum is as of the next mark: the client sums up the mirror at that
    /// mark.
    private struct Request {
        let subject: Subject
        var isAnnounced = false
        var own: OwnChecksum?
    }

    /// The result of a comparison.
    enum Verdict {
        case equal(Subject)
        case different(Subject)
        /// The mirror differed and has restarted with a snapshot.
        case mended(Subject)
        /// The mirror advanced before the answer came.
        case askAgain(Subject)
        /// The mirror is no longer followed.
        case gone(Subject)
    }

    init() {}

    var isEmpty: Bool { checks.isEmpty }
    /// True while the daemon owes a checksum.
    var hasRequests: Bool { !requests.isEmpty }
}

extension MirrorChecks {
    /// Records the request `number` for the checksum of a slice.
    mutating func begin(_ number: UInt64, _ subject: Subject) {
        requests[number] = Request(subject: subject)
    }

    /// Records that the requested checksum is as of the next mark.
    mutating func announce(_ number: UInt64) {
        requests[number]?.isAnnounced = true
        requests[number]?.own = nil
    }

    /// Sums up the mirrors of announced checksums, as their mark has taken effect.
    mutating func sumAnnounced(at revision: Revision, isResyncing: Bool) {
        for (number, request) in requests where request.isAnnounced {
            requests[number]?.isAnnounced = false
            guard request.subject.subscription.isCurrent, !isResyncing else { continue }
            requests[number]?.own = OwnChecksum(
                revision: revision, checksum: request.subject.sink.checksum())
        }
    }

    /// Takes the daemon's answer to the request `number`; ``settle(_:at:epoch:isResyncing:)``
    /// compares.
    ///
    /// *Throws*: if the answer cannot be decoded; the comparison is over then.
    mutating func receive(_ number: UInt64, _ bytes: [UInt8]) throws(WireError) {
        guard let request = requests.removeValue(forKey: number) else { return }
        let expected = try SliceChecksum(wireBytes: bytes)
        checks.append(
            Check(subject: request.subject, stage: .comparing(expected), own: request.own))
    }

    /// Drops a request that gets no answer.
    mutating func cancel(_ number: UInt64) { requests[number] = nil }

    /// Compares the mirrors that can be compared now, and finds those that have restarted.
    mutating func settle(
        _ following: borrowing Following, at revision: Revision, epoch: UInt64?, isResyncing: Bool
    ) -> [Verdict] {
        let all = checks
        checks = []
        var verdicts: [Verdict] = []
        for check in all {
            let (subscription, sink) = (check.subject.subscription, check.subject.sink)
            guard following.contains(subscription),
                subscription.sinks.contains(where: { $0 === sink })
            else {
                verdicts.append(.gone(check.subject))
                continue
            }
            switch check.stage {
            case .comparing(let expected):
                let isAtRest = subscription.isCurrent && !isResyncing
                let isSameHistory = expected.revision.epoch == epoch
                guard isAtRest, !isSameHistory || revision.includes(expected.revision) else {
                    checks.append(check)
                    continue
                }
                verdicts.append(compare(check, expected, isSameHistory))
            case .mending:
                if subscription.needsSnapshot {
                    checks.append(check)
                } else {
                    verdicts.append(.mended(check.subject))
                }
            }
        }
        return verdicts
    }

    private mutating func compare(
        _ check: Check, _ expected: SliceChecksum, _ isSameHistory: Bool
    ) -> Verdict {
        let checksum: UInt64?
        if let own = check.own, own.revision == expected.revision {
            checksum = own.checksum
        } else if isSameHistory,
            check.subject.subscription.floor <= expected.revision.sequence
        {
            checksum = check.subject.sink.checksum()
        } else {
            return .askAgain(check.subject)
        }
        if checksum == expected.checksum { return .equal(check.subject) }
        checks.append(Check(subject: check.subject, stage: .mending))
        return .different(check.subject)
    }

    /// Moves out the calls that wait for a result: the client has ended.
    mutating func takeAll() -> [Completion] {
        defer { checks = [] }
        return checks.map(\.subject.completion)
    }
}

extension Revision {
    /// True if this revision is not before `other`, in the same history.
    fileprivate func includes(_ other: Revision) -> Bool {
        epoch == other.epoch && sequence >= other.sequence
    }
}
