public import ReactorCore
import ReactorThreads

/// A mirror that is being compared with the daemon.
struct MirrorCheck {
    let subscription: Subscription
    /// The mirror's end; it may leave the subscription meanwhile.
    let sink: any SliceSink
    var stage: Stage
    /// What the mirror held at the mark that the daemon announced.
    var own: OwnChecksum?
    let completion: (Result<Bool, ClientError>) -> Void

    /// How far it is.
    enum Stage {
        /// What the mirror must hold when it shows that revision.
        case comparing(SliceChecksum)
        /// It held something else, and gets a snapshot.
        case mending
    }
}

/// What a mirror held at a revision.
struct OwnChecksum {
    var revision: Revision
    var checksum: UInt64?
}

/// A checksum that was asked for and has not come.
///
/// A large slice is summed up beside the daemon's loop, and its checksum comes turns later. The daemon
/// announces by an empty part that the checksum is as of the next mark: the mirror is summed up then.
struct ChecksumRequest {
    let subscription: Subscription
    let sink: any SliceSink
    var isAnnounced = false
    /// What the mirror held at the announced mark.
    var own: OwnChecksum?
}

// MARK: - Comparing
extension ClientMachine {
    /// Has a mirror compared with the daemon: see ``Mirror/verify()``.
    public func verify<R: Reactor>(
        _ mirror: Mirror<R>, then completion: @escaping (Result<Bool, ClientError>) -> Void
    ) {
        if case .ended(let error) = stage { return completion(.failure(error)) }
        for subscription in subscriptions {
            for case let sink as MirrorSink<R> in subscription.sinks where sink.mirror === mirror {
                return check(subscription, sink, then: completion)
            }
        }
        completion(.failure(.gone(path: mirror.path)))
    }

    /// Asks what the slice's followers must hold.
    private func check(
        _ subscription: Subscription, _ sink: any SliceSink,
        then completion: @escaping (Result<Bool, ClientError>) -> Void
    ) {
        guard subscription.mode == .replica else {
            return completion(.failure(.notComparable(path: subscription.path)))
        }
        let number = lastRequest + 1
        checksumRequests[number] = ChecksumRequest(subscription: subscription, sink: sink)
        ask(.checksum(path: subscription.path)) { [unowned self] result in
            let own = checksumRequests.removeValue(forKey: number)?.own
            switch result {
            case .failure(let error): completion(.failure(error))
            case .success(let bytes):
                do throws(WireError) {
                    let expected = try SliceChecksum(wireBytes: bytes)
                    checks.append(
                        MirrorCheck(
                            subscription: subscription, sink: sink, stage: .comparing(expected),
                            own: own, completion: completion))
                } catch {
                    return completion(.failure(.daemonFault("answer: \(error)")))
                }
                settleChecks()
            }
        }
    }

    /// The daemon announced that a checksum is as of the next mark.
    func noteAnnouncement(_ number: UInt64) {
        checksumRequests[number]?.isAnnounced = true
        checksumRequests[number]?.own = nil
    }

    /// Sums up mirrors whose checksums were announced, at the mark that was just applied.
    func sumAnnounced() {
        for (number, request) in checksumRequests where request.isAnnounced {
            checksumRequests[number]?.isAnnounced = false
            guard request.subscription.state == .current, !isResyncing else { continue }
            checksumRequests[number]?.own = OwnChecksum(
                revision: revision, checksum: request.sink.checksum())
        }
    }

    /// Looks which mirrors can be compared now, and which have been mended.
    func settleChecks() {
        let all = checks
        checks = []
        for check in all {
            guard subscriptions.contains(where: { $0 === check.subscription }),
                check.subscription.sinks.contains(where: { $0 === check.sink })
            else {
                check.completion(.failure(.gone(path: check.subscription.path)))
                continue
            }
            switch check.stage {
            case .comparing(let expected): settle(check, expected)
            case .mending: settleMended(check)
            }
        }
    }

    private func settle(_ check: MirrorCheck, _ expected: SliceChecksum) {
        let subscription = check.subscription
        let isAtRest = subscription.state == .current && !isResyncing
        let isSameHistory = expected.revision.epoch == welcome?.epoch
        guard isAtRest, !isSameHistory || revision >= expected.revision else {
            return checks.append(check)
        }
        let checksum: UInt64?
        if let own = check.own, own.revision == expected.revision {
            checksum = own.checksum
        } else if isSameHistory, subscription.floor <= expected.revision.sequence {
            checksum = check.sink.checksum()
        } else {
            // The mirror has moved on, or to another history, before the answer came.
            return self.check(subscription, check.sink, then: check.completion)
        }
        board.statistics.withLock { $0.verifications += 1 }
        if checksum == expected.checksum { return check.completion(.success(true)) }
        var mending = check
        mending.stage = .mending
        checks.append(mending)
        resynchronise(subscription)
    }

    /// Has a slice that holds something else than the daemon start anew.
    private func resynchronise(_ subscription: Subscription) {
        // because several may have found it out
        guard !subscription.needsSnapshot else { return }
        subscription.needsSnapshot = true
        board.statistics.withLock { $0.resynchronisations += 1 }
        if stage == .live { send(subscription) }
    }

    private func settleMended(_ check: MirrorCheck) {
        guard !check.subscription.needsSnapshot else { return checks.append(check) }
        board.news.add(.resynchronised(path: check.subscription.path, at: revision))
        check.completion(.success(false))
    }

    /// There will be no more answers.
    func failChecks(_ error: ClientError) {
        let all = checks
        checks = []
        for check in all { check.completion(.failure(error)) }
    }
}

extension Revision {
    /// Whether it is no earlier than another of the same history.
    fileprivate static func >= (left: Revision, right: Revision) -> Bool {
        left.epoch == right.epoch && left.sequence >= right.sequence
    }
}
