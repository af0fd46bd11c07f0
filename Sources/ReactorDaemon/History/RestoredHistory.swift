import ReactorCore
import ReactorJournal
import ReactorWire

/// A copy of a history that ends at an earlier revision, or at an earlier time.
///
/// *Place*: `reactord restore`. The source is a backup, or the directory of a daemon that has
/// stopped; it is not changed.
package struct RestoredHistory {
    /// The end of the copy, for the operator.
    package let line: String

    /// The place where a copy ends.
    package enum Limit {
        /// The end of the history.
        case end
        /// A revision such as `9f86d081884c7d65:42`, or a sequence number of the last epoch.
        case revision(String)
        /// A time in milliseconds since 1970.
        case time(Int64)
    }

    /// Copies the undamaged rows of the directory at `source` up to `limit` into the new directory
    /// `target`.
    ///
    /// A row contains a turn, which is restored as a whole or not at all: the copy may end at an
    /// earlier revision than the limit.
    ///
    /// *Throws*: if nothing of the history lies before the limit, if the source is in use, or if the
    /// copy cannot be written.
    package init(of source: String, upTo limit: Limit, into target: String) throws(DaemonError) {
        do throws(PastError) {
            self = try Self.copy(source, limit, into: target)
        } catch {
            throw error.daemonError
        }
    }

    private init(_ end: JournalPosition, in target: String) {
        let place = end.number == 0 ? "the start of the history" : "row \(end.number)"
        let time = end.number == 0 ? "" : ", of \(TimestampText.format(milliseconds: end.time))"
        line = "restored into \(target): up to \(place), sequence \(end.sequence)\(time)"
    }

    private static func copy(
        _ source: String, _ limit: Limit, into target: String
    ) throws(PastError) -> RestoredHistory {
        let wanted: JournalLimit
        switch limit {
        case .end: wanted = .end
        case .time(let time): wanted = .time(time)
        case .revision(let text):
            let revision = try PastTree.revision(
                text,
                PastTree.reading { () throws(JournalError) in try DataDirectory(examining: source) }
            )
            wanted = .sequence(epoch: revision.epoch, revision.sequence)
        }
        let copy = try PastTree.reading { () throws(JournalError) in
            try JournalDoctor(at: source).copy(until: wanted, into: target)
        }
        guard let copy else { throw .outOfReach(reason(limit, source)) }
        return RestoredHistory(copy.end, in: target)
    }

    private static func reason(_ limit: Limit, _ source: String) -> String {
        switch limit {
        case .end: "\(source): no part of the history can be read"
        case .revision(let text): "\(source): revision \(text) is not in the history"
        case .time(let time):
            "\(source): no state of \(TimestampText.format(milliseconds: time)) or before is in "
                + "the history"
        }
    }
}
