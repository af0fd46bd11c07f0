/// Decides how far the engine's history is compacted.
///
/// *Shape*: an entry may go once a majority of the nodes has its rows *durably*, since the
/// compaction takes the engine's copy away. Entries that a slower node lacks stay, unless that node
/// is behind by more than ``ClusterSettings/logBytes``. It needs a copy of another node's history
/// then, and the last entries up to that size stay, so that the log continues the copy once it has
/// arrived. Sizes are sums over entries, kept at steps of a 64th of that maximum.
///
/// The engine keeps beats and reports as well, and compacts only up to an entry. So a leader without
/// actions appends a row from time to time: ``needsEntry(at:)``.
struct LogTrimmer {
    private struct Mark {
        let position: LogPosition
        /// Bytes of the entries up to there.
        let byteCount: Int
    }

    private let settings: ClusterSettings
    private var marks: [Mark] = []
    private var byteCount = 0
    /// The revision of the last entry; 0 before the first.
    private var lastRevision: UInt64
    /// Whether an entry was asked for since the last one.
    private var hasAskedForEntry = false
    private var compacted: LogPosition = .beginning
    private var asked: LogPosition?

    /// Begins after the entry at `position`.
    init(_ settings: ClusterSettings, after position: LogPosition) {
        self.settings = settings
        lastRevision = position.revision
    }

    /// Bytes of the entries after the last that this process compacted.
    var uncompactedByteCount: Int { byteCount - byteCount(upTo: compacted.number) }

    /// About how many bytes the engine keeps of a write that is no entry: a beat, a probe, a report.
    private static let writeByteCount = 200

    /// Adds an entry of the log, in order. The revisions between two entries are other writes.
    mutating func add(_ position: LogPosition, byteCount added: Int) {
        // Before the first entry, the other writes are those of the engine's whole history.
        let others = lastRevision > 0 ? byteCountOfOthers(before: position.revision) : 0
        (lastRevision, hasAskedForEntry) = (position.revision, false)
        byteCount += added + others
        guard byteCount - (marks.last?.byteCount ?? 0) >= settings.logBytes / 64 else { return }
        marks.append(Mark(position: position, byteCount: byteCount))
    }

    /// Whether so much was written since the last entry, up to `revision`, that a compaction up to
    /// another entry is due. True once for each entry.
    mutating func needsEntry(at revision: UInt64) -> Bool {
        guard !hasAskedForEntry, lastRevision > 0,
            byteCountOfOthers(before: revision) >= settings.logBytes / 4
        else { return false }
        hasAskedForEntry = true
        return true
    }

    /// About how many bytes were written between the last entry and `revision`.
    private func byteCountOfOthers(before revision: UInt64) -> Int {
        let others = revision - min(lastRevision + 1, revision)
        return Int(min(others, 1 << 30)) * Self.writeByteCount
    }

    /// The position up to which the history is to be compacted now; nil if it is too early.
    /// `durable` has the position of each node.
    mutating func nextTarget(durable: [LogPosition]) -> LogPosition? {
        let sorted = durable.sorted { $0.number > $1.number }
        guard asked == nil, sorted.count >= settings.majority else { return nil }
        let common = sorted[settings.majority - 1]
        var target = sorted.filter { !isFar($0) }.last { $0.number <= common.number } ?? common
        if sorted.contains(where: isFar) {
            guard let kept = marks.last(where: { byteCount - $0.byteCount >= settings.logBytes })
            else { return nil }
            if kept.position.number < target.number { target = kept.position }
        }
        let gain = byteCount(upTo: target.number) - byteCount(upTo: compacted.number)
        guard target.number > compacted.number, gain >= settings.logBytes / 4 else { return nil }
        asked = target
        return target
    }

    /// The compaction was carried out, or not.
    mutating func finish(_ isDone: Bool) {
        guard let target = asked else { return }
        asked = nil
        guard isDone else { return }
        compacted = target
        // Below the compacted entry only the sum is needed.
        if let index = marks.lastIndex(where: { $0.position.number <= target.number }) {
            marks.removeFirst(index)
        }
    }

    private func isFar(_ position: LogPosition) -> Bool {
        byteCount - byteCount(upTo: position.number) > settings.logBytes
    }

    /// Bytes of the entries up to `number`, rounded down to a mark.
    private func byteCount(upTo number: UInt64) -> Int {
        marks.last { $0.position.number <= number }?.byteCount ?? 0
    }
}
