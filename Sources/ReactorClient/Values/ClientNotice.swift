public import ReactorCore

/// News that answers no call.
public enum ClientNotice: Sendable, Equatable {
    /// An effect of one of this client's actions failed after the action's outcome had arrived.
    case effectFailed(Origin, message: String)
    /// The daemon was restarted while this client waited for the effects of one of its actions: those
    /// that had not ended are gone, but for promised ones.
    case effectsLost(Origin)
    /// What one of this client's actions set off ran in a circle, and was cut.
    case loop(Origin, message: String)
    /// Something that a newer daemon says of one of this client's actions.
    case other(code: String, Origin, message: String)
    /// The daemon lost a part of its past: what mirrors showed up to `from` may never have been so,
    /// and they show `to` now. Told after they do.
    case rolledBack(from: Revision, to: Revision)
    /// A mirror held something else than the daemon when it was compared, and has started again: see
    /// ``Mirror/verify()``.
    case resynchronised(path: String, at: Revision)
    /// What a handler of a saga over the mirror of `path` began has failed; the handler goes on.
    case sagaFailed(path: String, message: String)
    /// An action that an earlier run of the program left in ``ClientOptions/journal`` has this
    /// outcome. That run may have received it already.
    case recovered(Origin, ActionOutcome)
}

extension ClientNotice {
    init(_ notice: Notice, of origin: Origin) {
        switch notice.code {
        case LateFailure.effectFailedCode: self = .effectFailed(origin, message: notice.message)
        case FaultCode.effectsLost.rawValue: self = .effectsLost(origin)
        case FaultCode.loop.rawValue: self = .loop(origin, message: notice.message)
        default: self = .other(code: notice.code, origin, message: notice.message)
        }
    }
}

extension ClientNotices {
    /// The rollbacks among the notices: what mirrors showed, and what they show now.
    public var rollbacks: some AsyncSequence<Rollback, Never> & Sendable {
        compactMap { notice in
            if case .rolledBack(let from, let to) = notice {
                Rollback(from: from, to: to)
            } else {
                nil
            }
        }
    }
}

/// The loss of a part of the daemon's past.
public struct Rollback: Sendable, Equatable {
    /// The last revision of the lost past that was known.
    public var from: Revision
    /// The revision that mirrors show now.
    public var to: Revision
}

/// The notices of a client, from the moment that a reader begins.
///
/// Ends with the client. A reader that falls ``keptMax`` behind misses the oldest.
public struct ClientNotices: AsyncSequence, Sendable {
    /// Most notices that wait for a slow reader.
    public static let keptMax = 256

    let feed: NoticeFeed

    /// A reader's place; each gets what comes after it was made.
    public func makeAsyncIterator() -> Iterator { Iterator(feed: feed, next: feed.end) }

    /// One reader's place.
    public struct Iterator: AsyncIteratorProtocol {
        let feed: NoticeFeed
        private var next: UInt64

        init(feed: NoticeFeed, next: UInt64) {
            self.feed = feed
            self.next = next
        }

        /// The next notice, once there is one; `nil` at the end, or if the task is cancelled.
        public mutating func next(
            isolation actor: isolated (any Actor)? = #isolation
        ) async -> ClientNotice? {
            while !Task.isCancelled {
                let version = feed.changed.version
                let isEnded = feed.changed.isEnded
                if let (notice, number) = feed.notice(from: next) {
                    next = number + 1
                    return notice
                }
                if isEnded { return nil }
                await feed.changed.change(after: version)
            }
            return nil
        }
    }
}
