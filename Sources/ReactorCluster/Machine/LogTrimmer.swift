/// Decides how far the engine's history is compacted.
///
/// *Shape*: an entry may go once a majority of the nodes has its rows *durably*, since the
/// compaction takes the engine's copy away. Entries that a slower node lacks stay, unless that node
/// is behind by more than ``ClusterSettings/logBytes``. Sizes are sums over entries, kept at steps
/// of a 64th of that maximum.
struct LogTrimmer {
    private struct Mark {
        let number: UInt64
        /// Bytes of the entries up to `number`.
        let byteCount: Int
    }

    private let settings: ClusterSettings
    private var marks: [Mark] = []
    private var byteCount = 0
    private var lastRevision: UInt64?
    private var compacted: LogPosition = .beginning
    private var asked: LogPosition?

    init(_ settings: ClusterSettings) { self.settings = settings }

    /// Bytes of the entries after the last compaction of this process.
    var uncompactedByteCount: Int { byteCount - byteCount(upTo: compacted.number) }

    /// About how many bytes the engine keeps of a write that is no entry: a beat, a probe, a report.
    private static let writeByteCount = 200

    /// Adds an entry of the log, in order. The revisions between two entries are other writes.
    mutating func add(_ position: LogPosition, byteCount added: Int) {
        let number = position.number
        let others = lastRevision.map { position.revision - min($0 + 1, position.revision) } ?? 0
        lastRevision = position.revision
        byteCount += added + Int(min(others, 1 << 30)) * Self.writeByteCount
        guard byteCount - (marks.last?.byteCount ?? 0) >= settings.logBytes / 64 else { return }
        marks.append(Mark(number: number, byteCount: byteCount))
    }

    /// The position up to which the history is to be compacted now; nil if it is too early.
    /// `durable` has the position of each node.
    mutating func nextTarget(durable: [LogPosition]) -> LogPosition? {
        let sorted = durable.sorted { $0.number > $1.number }
        guard asked == nil, sorted.count >= settings.majority else { return nil }
        let common = sorted[settings.majority - 1]
        let target = sorted.filter { !isFar($0) }.last { $0.number <= common.number } ?? common
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
        if let index = marks.lastIndex(where: { $0.number <= target.number }) {
            marks.removeFirst(index)
        }
    }

    private func isFar(_ position: LogPosition) -> Bool {
        byteCount - byteCount(upTo: position.number) > settings.logBytes
    }

    /// Bytes of the entries up to `number`, rounded down to a mark.
    private func byteCount(upTo number: UInt64) -> Int {
        marks.last { $0.number <= number }?.byteCount ?? 0
    }
}
