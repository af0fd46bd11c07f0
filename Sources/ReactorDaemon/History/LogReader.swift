import ReactorCore
import ReactorJournal
import ReactorServer
import ReactorWire

/// Reads a daemon's history page by page, for a client that asks what happened at a path.
///
/// *Owner*: one thread; beside a journal that is written. *Cost*: memory for a page, for one row
/// taken to pieces, and for where nodes stood.
final class LogReader {
    let path: String
    /// Where the next page begins.
    private(set) var mark: LogMark
    private let slice: SlicePath
    private let reader: JournalReader
    private let begin: Revision
    private var scribe = LogScribe()
    /// The revision to begin with, until it was reached.
    private var from: Revision?
    /// Whether rows of its epoch have come.
    private var isInEpoch = false
    /// The mark to go on behind, until it was reached.
    private var after: LogMark?
    private var waiting: ArraySlice<LogEntry> = []
    /// Entries of the page that is being read.
    private var entries: [LogEntry] = []
    /// Bytes of these.
    private var byteCount = 0

    /// Most entries of a page.
    static let pageEntriesMax = 256
    /// Most bytes of actions and mutations in a page, but for one entry of any size.
    static let pageBytesMax = 256 << 10

    init(
        _ path: String, from: Revision?, after: LogMark?, in directory: DataDirectory,
        isCancelled: () -> Bool
    ) throws(PastError) {
        self.path = path
        slice = try PastTree.path(path)
        (self.from, self.after) = (after == nil ? from : nil, after)
        reader = try PastTree.reading { () throws(JournalError) in try JournalReader(directory) }
        let row = reader.anchor.number
        begin = Revision(epoch: reader.anchor.epoch, sequence: reader.anchor.sequence)
        mark = after ?? LogMark(row: row, skip: 0)
        if let after, after.row < row {
            throw .outOfReach("the journal was trimmed up to row \(row), which was not told yet")
        }
        // because nodes that were there before the first row are known by these alone
        let numbers = try PastTree.reading { () throws(JournalError) in
            try SnapshotShelf(directory).numbers()
        }
        for number in numbers { learn(number, directory, isCancelled) }
        if isCancelled() { throw .ended }
        noteEpoch(begin)
    }

    private func learn(
        _ number: UInt64, _ directory: DataDirectory, _ isCancelled: () -> Bool
    ) {
        guard let snapshot = try? SnapshotReader(directory, of: number) else { return }
        while !isCancelled(), let part = try? snapshot.next() {
            try? scribe.places.learn(part: part)
        }
    }

    /// Whether the revision to begin with was not reached yet.
    var isSeeking: Bool { from != nil }

    /// Reads on for the next page, in at most `rowsMax` rows; nil where the page is not complete then:
    /// a further call goes on with it.
    ///
    /// *Throws*: ``PastError/outOfReach(_:)`` where the revision to begin with is not there, and is
    /// not the next one.
    func page(rowsMax: Int, isCancelled: () -> Bool) throws(PastError) -> LogPage? {
        var rowsLeft = rowsMax
        while entries.count < Self.pageEntriesMax, byteCount < Self.pageBytesMax {
            if let entry = waiting.popFirst() {
                entries.append(entry)
                byteCount += entry.byteCount
                mark.skip += 1
                continue
            }
            if isCancelled() { throw .ended }
            guard rowsLeft > 0 else { return nil }
            rowsLeft -= 1
            guard try readRow() else {
                try checkReached()
                return takePage(isEnd: true)
            }
        }
        return takePage(isEnd: false)
    }

    private func takePage(isEnd: Bool) -> LogPage {
        defer {
            entries = []
            byteCount = 0
        }
        return LogPage(entries: entries, position: mark, isEnd: isEnd, begin: begin)
    }

    /// The page of a client that has waited in vain: nothing has happened.
    var emptyPage: LogPage { LogPage(entries: [], position: mark, isEnd: true, begin: begin) }

    private func checkReached() throws(PastError) {
        guard let from else { return }
        let end = Revision(epoch: reader.position.epoch, sequence: reader.position.sequence)
        // because who asks for what comes next may name it before it is there
        if isInEpoch, from.epoch == end.epoch, from.sequence <= end.sequence &+ 1 { return }
        throw .outOfReach(
            "revision \(from) is not in the history, which begins behind \(begin) and ends at \(end)"
        )
    }

    /// Takes the next row to pieces; false at the end.
    private func readRow() throws(PastError) -> Bool {
        let found = try PastTree.reading { () throws(JournalError) in try reader.next() }
        guard let found else { return false }
        let entries: [LogEntry]
        do throws(RecoveryError) {
            entries = try scribe.entries(of: HistoryRow(found), at: found.time, below: slice)
        } catch {
            throw .recovery(error, place: "row \(found.number)")
        }
        waiting = select(entries[...], of: found)
        return true
    }

    /// The entries that are wanted; those before are passed over.
    private func select(
        _ entries: ArraySlice<LogEntry>, of found: JournalRow
    ) -> ArraySlice<LogEntry> {
        if let after {
            guard found.number > after.row else { return [] }
            self.after = nil
            mark = after
            return found.number == after.row + 1
                ? entries.dropFirst(Int(clamping: after.skip)) : entries
        }
        mark = LogMark(row: found.number - 1, skip: 0)
        guard let from else { return entries }
        noteEpoch(Revision(epoch: found.epoch, sequence: found.sequence))
        // because what comes behind the revision's epoch is behind the revision
        let left =
            if self.from != nil {
                entries.dropFirst(entries.count)
            } else if found.epoch == from.epoch {
                entries.drop { ($0.revision?.sequence ?? 0) < from.sequence }
            } else {
                entries
            }
        mark.skip = UInt64(entries.count - left.count)
        return left
    }

    /// Takes note of how far rows have come; the revision to begin with may be reached by that.
    private func noteEpoch(_ end: Revision) {
        // because where nothing has happened yet there is no epoch
        guard let from, end.epoch != 0 else { return }
        if end.epoch == from.epoch {
            isInEpoch = true
            if end.sequence >= from.sequence { self.from = nil }
        } else if isInEpoch {
            self.from = nil
        }
    }
}

extension LogEntry {
    /// About how many bytes it takes on the wire.
    fileprivate var byteCount: Int {
        let bytes =
            actions.reduce(0) { $0 + $1.action.bytes.count + $1.path.utf8.count }
            + mutations.reduce(0) { $0 + $1.mutation.bytes.count + $1.path.utf8.count }
            + replaced.reduce(0) { $0 + $1.utf8.count }
        return bytes + 128
    }
}
