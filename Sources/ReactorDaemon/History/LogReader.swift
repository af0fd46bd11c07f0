import ReactorCore
import ReactorJournal
import ReactorServer
import ReactorWire

/// Reads a daemon's history page by page, for a client that asks for the changes at a path.
///
/// *Owner*: one thread, while the journal is being written. *Cost*: memory for a page, one
/// decoded row and the paths of all nodes.
final class LogReader {
    let path: String
    /// The position at which the next page begins.
    private(set) var mark: LogMark
    private let slice: SlicePath
    private let reader: JournalReader
    private let begin: Revision
    private var decoder = LogDecoder()
    /// The first revision to report; nil once the reader has reached it.
    private var from: Revision?
    /// Whether rows of the epoch of `from` have been read.
    private var isInEpoch = false
    /// The position after which to begin; nil once the reader has reached it.
    private var after: LogMark?
    private var waiting: ArraySlice<LogEntry> = []
    /// Entries of the page being read.
    private var entries: [LogEntry] = []
    /// Approximate bytes of ``entries``.
    private var byteCount = 0

    /// Maximum number of entries in a page.
    static let pageEntriesMax = 256
    /// Maximum bytes of actions and mutations in a page; the last entry may exceed it.
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
            throw .outOfReach(
                "the journal was trimmed up to row \(row), before that row was printed")
        }
        // Nodes created before the first row are known only from snapshots.
        let numbers = try PastTree.reading { () throws(JournalError) in
            try SnapshotStore(directory).numbers()
        }
        for number in numbers { learn(number, directory, isCancelled) }
        if isCancelled() { throw .ended }
        advance(to: begin)
    }

    private func learn(
        _ number: UInt64, _ directory: DataDirectory, _ isCancelled: () -> Bool
    ) {
        guard let snapshot = try? SnapshotReader(directory, of: number) else { return }
        while !isCancelled(), let part = try? snapshot.next() {
            try? decoder.learn(part: part)
        }
    }

    /// Whether the reader has not reached the first revision to report.
    var isSeeking: Bool { from != nil }

    /// Reads the next page, from at most `rowsMax` rows. Returns nil if the page is not complete
    /// after them; a further call continues it.
    ///
    /// *Throws*: ``PastError/outOfReach(_:)`` if the first revision to report is neither in the
    /// history nor the next one to come.
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

    /// The page for a client whose wait ended without new rows.
    var emptyPage: LogPage { LogPage(entries: [], position: mark, isEnd: true, begin: begin) }

    private func checkReached() throws(PastError) {
        guard let from else { return }
        let end = Revision(epoch: reader.position.epoch, sequence: reader.position.sequence)
        // A client that waits for the next revision may name it before it exists.
        if isInEpoch, from.epoch == end.epoch, from.sequence <= end.sequence &+ 1 { return }
        throw .outOfReach(
            "revision \(from) is not in the history, which begins after \(begin) and ends at \(end)"
        )
    }

    /// Decodes the next row into entries; returns false at the end.
    private func readRow() throws(PastError) -> Bool {
        let found = try PastTree.reading { () throws(JournalError) in try reader.next() }
        guard let found else { return false }
        let entries: [LogEntry]
        do throws(RecoveryError) {
            entries = try decoder.entries(of: found.batch, at: found.time, below: slice)
        } catch {
            throw .recovery(error, place: "row \(found.number)")
        }
        waiting = select(entries[...], of: found)
        return true
    }

    /// Returns the entries from the requested position on, and advances the mark past the others.
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
        advance(to: Revision(epoch: found.epoch, sequence: found.sequence))
        // Every revision of a later epoch comes after the requested one.
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

    /// Records how far the reader has come, and clears `from` once the reader has reached it.
    private func advance(to end: Revision) {
        // Before the first turn there is no epoch.
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
    /// Approximate size on the wire, in bytes.
    fileprivate var byteCount: Int {
        let bytes =
            actions.reduce(0) { $0 + $1.action.bytes.count + $1.path.utf8.count }
            + mutations.reduce(0) { $0 + $1.mutation.bytes.count + $1.path.utf8.count }
            + replaced.reduce(0) { $0 + $1.utf8.count }
        return bytes + 128
    }
}
