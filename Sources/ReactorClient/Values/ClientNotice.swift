public import ReactorCore

/// News that belong to no call.
public enum ClientNotice: Sendable, Equatable {
    /// An effect of one of this client's actions failed after the action's outcome had arrived.
    case effectFailed(Origin, message: String)
    /// The daemon was restarted while this client waited for the effects of one of its actions: the
    /// effects that had not ended are lost, except promised ones.
    case effectsLost(Origin)
    /// One of this client's actions caused transactions in a circle, which the daemon cut.
    case loop(Origin, message: String)
    /// A notice of a newer daemon about one of this client's actions.
    case other(code: String, Origin, message: String)
    /// The daemon lost a part of its history: mirrors may have shown states up to `from` that the
    /// history no longer contains, and show `to` now. Sent after they show it.
    case rolledBack(from: Revision, to: Revision)
    /// A mirror differed from the daemon when it was compared, and has restarted with a snapshot:
    /// see ``Mirror/verify()``.
    case resynchronised(path: String, at: Revision)
    /// A run of a saga's handler, over the mirror of `path`, has failed; the handler continues.
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
    /// The rollbacks among the notices: the revision that mirrors showed, and the one they show
    /// now.
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

/// The loss of a part of the daemon's history.
public struct Rollback: Sendable, Equatable {
    /// The last known revision of the lost history.
    public var from: Revision
    /// The revision that mirrors show now.
    public var to: Revision
}

/// The notices of a client, from the moment that a reader begins.
///
/// Ends with the client. A reader that falls ``keptMax`` notices behind misses the oldest.
public struct ClientNotices: AsyncSequence, Sendable {
    /// Limit of the notices that wait for a slow reader.
    public static let keptMax = 256

    let feed: NoticeFeed

    /// Makes a reader, which gets the notices from now on.
    public func makeAsyncIterator() -> Iterator { Iterator(feed: feed, next: feed.end) }

    /// One reader's position in the sequence.
    public struct Iterator: AsyncIteratorProtocol {
        let feed: NoticeFeed
        private var next: UInt64

        init(feed: NoticeFeed, next: UInt64) {
            self.feed = feed
            self.next = next
        }

        /// The next notice; `nil` at the end, or if the task is cancelled.
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
