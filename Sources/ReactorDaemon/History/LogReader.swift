import ReactorCore
import ReactorJournal
import ReactorServer
import ReactorWire

/// Reads a daemon's history page by page, for one who wants to know what happened at a path.
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
    /// The mark to go on behind, until it was reached.
    private var after: LogMark?
    private var waiting: ArraySlice<LogEntry> = []
    private let isCancelled: () -> Bool

    /// Most entries of a page.
    static let pageEntriesMax = 256
    /// Most bytes of actions and mutations in a page, but for one entry of any size.
    static let pageBytesMax = 256 << 10

    init(
        _ path: String, from: Revision?, after: LogMark?, in directory: DataDirectory,
        isCancelled: @escaping () -> Bool
    ) throws(PastError) {
        self.path = path
        self.isCancelled = isCancelled
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
        for number in numbers { learn(number, directory) }
    }

    private func learn(_ number: UInt64, _ directory: DataDirectory) {
        guard let snapshot = try? SnapshotReader(directory, of: number) else { return }
        while let part = try? snapshot.next() { try? scribe.places.learn(part: part) }
    }

    /// What comes next, up to the journal's end or what a page holds.
    func page() throws(PastError) -> LogPage {
        var entries: [LogEntry] = []
        var byteCount = 0
        var isEnd = false
        while entries.count < Self.pageEntriesMax, byteCount < Self.pageBytesMax {
            if let entry = waiting.popFirst() {
                entries.append(entry)
                byteCount += entry.byteCount
                mark.skip += 1
            } else {
                guard try readRow() else {
                    isEnd = true
                    break
                }
            }
        }
        return LogPage(entries: entries, mark: mark, isEnd: isEnd, begin: begin)
    }

    /// Takes the next row to pieces; false at the end.
    private func readRow() throws(PastError) -> Bool {
        if isCancelled() { throw .ended }
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
        guard found.epoch == from.epoch, found.sequence >= from.sequence else { return [] }
        let left = entries.drop { ($0.revision?.sequence ?? 0) < from.sequence }
        mark.skip = UInt64(entries.count - left.count)
        if !left.isEmpty { self.from = nil }
        return left
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
