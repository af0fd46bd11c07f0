import ReactorJournal
import ReactorLoop
import ReactorServer
import ReactorThreads
import ReactorWire

/// The rows that the newest snapshot does not contain.
///
/// *Invariants*: rows that were counted at a time have bytes.
struct FreshRows {
    /// Bytes of the rows.
    private(set) var byteCount: Int
    /// When the oldest of the rows was appended in this run, in nanoseconds; nil without one.
    private var since: UInt64?

    /// Begins with the rows that a start has replayed.
    init(byteCount: Int) { self.byteCount = byteCount }

    /// Whether a row was appended in this run.
    var isChanged: Bool { since != nil }

    /// The age of the oldest row that was appended in this run.
    func age(at now: UInt64) -> Duration { .nanoseconds(now &- (since ?? now)) }

    /// Counts a row that was passed to the journal.
    mutating func count(_ byteCount: Int, at now: UInt64) {
        self.byteCount += byteCount
        if since == nil { since = now }
        invariants()
    }

    /// Starts again, since a snapshot of all rows has begun.
    mutating func clear() {
        byteCount = 0
        since = nil
    }

    private func invariants() { assert(byteCount >= 0, "rows of \(byteCount) bytes") }
}

/// The trims in progress. Each first removes snapshots, then rows.
///
/// *Invariants*: no more trims remove snapshots than are in progress.
struct TrimCounts {
    /// Number of trims in progress.
    private var count = 0
    /// Number of those that have not removed the older snapshots yet.
    private var tidyingCount = 0
    /// The last row that a trim has removed; nil before one has ended.
    private(set) var anchor: UInt64?

    /// Whether a trim is in progress.
    var isTrimming: Bool { count > 0 }
    /// Whether a trim has not removed the older snapshots yet.
    var isTidying: Bool { tidyingCount > 0 }

    /// Counts a trim that was requested.
    mutating func begin() {
        count += 1
        tidyingCount += 1
        invariants()
    }

    /// Called when a trim has removed the older snapshots.
    mutating func endTidying() {
        tidyingCount -= 1
        invariants()
    }

    /// Records the last row that a trim has removed.
    mutating func setAnchor(_ number: UInt64) { anchor = number }

    /// Called when a trim has removed the rows.
    mutating func end() {
        count -= 1
        invariants()
    }

    private func invariants() {
        assert(
            0...count ~= tidyingCount, "\(tidyingCount) of \(count) trims remove snapshots")
    }
}

/// The requests for snapshots: one to the server at a time, and the callbacks that wait for it.
struct SnapshotOrders {
    typealias Callback = (Result<SnapshotHeader, JournalError>) -> Void

    /// Whether the server was asked for a snapshot that it has not begun.
    private var isRequested = false
    /// Callbacks for the next snapshot.
    private var waiting: [Callback] = []

    /// Whether a callback waits for the next snapshot.
    var isWaiting: Bool { !waiting.isEmpty }

    /// Whether no snapshot is requested.
    var isEmpty: Bool { !isRequested && waiting.isEmpty }

    /// Adds a callback for the next snapshot.
    mutating func add(_ callback: @escaping Callback) { waiting.append(callback) }

    /// Returns whether to ask the server, which was not asked before.
    mutating func request() -> Bool {
        defer { isRequested = true }
        return !isRequested
    }

    /// Forgets a request to a server that was replaced.
    mutating func forgetRequest() { isRequested = false }

    /// Called when the server begins the snapshot; returns the callbacks that wait for it.
    mutating func begin() -> [Callback] {
        isRequested = false
        defer { waiting = [] }
        return waiting
    }
}

/// The snapshots that ended in this run.
///
/// *Invariants*: ``hasFailed`` implies that ``failedCount`` is above zero.
struct SnapshotRecord {
    /// Whether the last snapshot could not be written.
    private(set) var hasFailed = false
    /// Number of snapshots that could not be written.
    private(set) var failedCount: UInt64 = 0
    /// The row of the newest snapshot; 0 without one.
    var lastRow: UInt64 = 0
    /// The time that the last snapshot took; nil before one has ended.
    private(set) var nanoseconds: UInt64?
    /// Bytes of the states in the last snapshot, by reactor; empty before one has ended.
    private(set) var stateByteCounts: [(reactor: String, byteCount: Int)] = []
    /// When the snapshot in progress was first seen, in nanoseconds.
    private var start: UInt64?

    /// Records that a snapshot has ended.
    mutating func end(hasFailed: Bool) {
        self.hasFailed = hasFailed
        if hasFailed { failedCount += 1 }
        assert(!hasFailed || failedCount > 0, "a failed snapshot is not counted")
    }

    /// Keeps the sizes of the states in a snapshot that has ended.
    mutating func keep(_ sizes: StateSizes) { stateByteCounts = sizes.byteCounts }

    /// Passes the time, after each turn, with whether a snapshot is in progress.
    mutating func pass(isRunning: Bool, at now: UInt64) {
        if isRunning {
            if start == nil { start = now }
        } else if let start {
            nanoseconds = now &- start
            self.start = nil
        }
    }
}

/// The sizes of the states in a snapshot, by reactor at the top of the tree.
///
/// *Place*: filled by the snapshot's thread while it encodes the states, and read for metrics after
/// that. The reactors at the top come from the configuration, so they are few; beyond
/// ``reactorsMax`` of them, the rest is counted as `other`. *Owner*: any thread.
final class StateSizes: Sendable {
    /// Maximum number of reactors that are counted apart.
    static let reactorsMax = 64

    private let sizes = Guarded<[String: Int]>([:])

    /// Counts the bytes of a node whose path begins with `topName`; nil for the root itself.
    func add(_ byteCount: Int, at topName: WireKey?) {
        let reactor = topName.map { "/\($0.text)" } ?? "/"
        sizes.withLock { sizes in
            let isCounted = sizes[reactor] != nil || sizes.count < Self.reactorsMax
            sizes[isCounted ? reactor : "other", default: 0] += byteCount
        }
    }

    /// The bytes by reactor, in the order of their names.
    var byteCounts: [(reactor: String, byteCount: Int)] {
        sizes.withLock { $0 }.sorted { $0.key < $1.key }.map { ($0.key, $0.value) }
    }
}

/// The figures of a daemon's history, for metrics.
struct HistoryFigures: Sendable {
    /// The directory, whose files have sizes to show.
    let directory: DataDirectory
    /// The maximum size of the directory in bytes; nil without one.
    let diskByteCountMax: Int?
    /// Bytes of rows that the newest snapshot does not cover.
    let freshByteCount: Int
    /// Number of rows in the journal; nil before a trim has ended.
    let keptRowCount: UInt64?
    /// Bytes that were written during a trim, beyond those that it has removed.
    let trimLagByteCount: Int
    /// The latest time of a row, in milliseconds since 1970.
    let latestTime: Int64
    /// Bytes of the states in the last snapshot of this run, by reactor at the top of the tree.
    let stateByteCounts: [(reactor: String, byteCount: Int)]
    /// Number of snapshots that could not be written.
    let snapshotsFailed: UInt64
    /// The time that the last snapshot took; nil before one has ended.
    let snapshotNanoseconds: UInt64?
}

/// The file that marks the action being run, for threads other than the loop's.
struct ActionMarks: Sendable {
    /// The file's path.
    let path: String

    /// The ordinal of the action that is marked as running; nil between actions, or if the file
    /// cannot be read. *C*: `open`, `read`.
    var ordinal: UInt64? {
        let bytes = try? FileSystem.bytes(at: path, byteCountMax: ActionWatch.markBytes)
        return bytes.flatMap { ActionWatch.markedOrdinal(in: $0) }
    }
}
