import ReactorThreads

/// The last notices of a client, shared by all readers.
final class NoticeFeed: Sendable {
    let changed = ChangeSignal()
    private let kept = Guarded(Kept())

    private struct Kept {
        /// Number of the oldest notice.
        var first: UInt64 = 0
        var notices: [ClientNotice] = []
    }

    /// Number of the next notice.
    var end: UInt64 { kept.withLock { $0.first + UInt64($0.notices.count) } }

    func add(_ notice: ClientNotice) {
        kept.withLock { kept in
            kept.notices.append(notice)
            guard kept.notices.count > ClientNotices.keptMax else { return }
            kept.notices.removeFirst()
            kept.first += 1
        }
        changed.publish()
    }

    /// Ends the feed: no notice follows.
    func finish() { changed.publish(isLast: true) }

    /// The first kept notice with at least this number, and its number.
    func notice(from number: UInt64) -> (ClientNotice, UInt64)? {
        kept.withLock { kept in
            let number = max(number, kept.first)
            let index = Int(number - kept.first)
            guard index < kept.notices.count else { return nil }
            return (kept.notices[index], number)
        }
    }
}
