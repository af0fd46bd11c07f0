import ReactorBytes
import ReactorJournal
import ReactorServer
import ReactorWire

/// The durations that a daemon's loop measures, as histograms.
struct LoopFigures: Equatable, Sendable {
    /// For each action that was run as it arrived. The actions of one read share its duration.
    var actions = Histogram()
    /// From the first input of a turn to its last output.
    var turns = Histogram()
    /// The delay of the tick that is due every second.
    var lag = Histogram()
    /// From the order to append a turn's batch to the journal's report that it is appended.
    var commits = Histogram()
}

/// Measures the turns of a daemon's loop, and keeps the operations that took long.
///
///     meter.beginRead(of: connection, at: now, progress)   // its bytes arrived
///     meter.endRead(at: later, progress)                   // jobs, or the turn's end, follow
///     meter.endTurn(at: end)
///
/// *Place*: in the ``ServerShell``, which passes the loop's time in nanoseconds. *Owner*: the loop's
/// thread. *Shape*: a read ends with the next event of the turn, whose time the shell reads anyway.
/// *Cost*: one further clock reading for each turn; none for an action or a read.
final class LoopMeter {
    private let state = Cell(LoopFigures())
    /// The read that is being handled; nil between reads.
    private var read: OpenRead?
    /// When the turn's first event was handled; 0 before that.
    private var turnStart: UInt64 = 0
    /// Actions that the turn's input contained.
    private var turnActionCount: UInt64 = 0
    /// The longest read of the turn, if it is long enough to be the cause of a slow turn.
    private var longestRead: SlowEntry?
    /// Its duration; 0 without one, which is cheaper to test.
    private var longestReadDuration: UInt64 = 0
    private var commits = CommitTimes()
    private let slowOperations = Cell(SlowLog())
    /// Threshold of the slow log for a read, in nanoseconds; a longer read is kept.
    private var actionsMax = UInt64.max
    /// Threshold of the slow log for a turn, in nanoseconds; a longer turn is kept.
    private var turnMax = UInt64.max
    /// Where the loop is, for the watchdog; nil without one.
    private(set) var position: LoopPosition?

    /// The memory ceiling.
    let ceiling: MemoryCeiling

    /// A read whose end is not known yet.
    private struct OpenRead {
        let connection: ConnectionID
        let start: UInt64
        let former: ActionProgress
    }

    /// Makes a meter that keeps no slow operation until ``keepSlow(_:)``.
    init(_ limits: ServerLimits = ServerLimits()) {
        ceiling = MemoryCeiling(of: limits.memoryMax)
        ceiling.setMax(limits.memoryMax, userMax: limits.memoryPerUIDMax)
    }

    /// The durations so far.
    var figures: LoopFigures { state.value }

    /// The operations that took long.
    var slowLog: SlowLog { slowOperations.value }

    /// Keeps operations from here on that take longer than the thresholds of `config`.
    func keepSlow(_ config: SlowLogConfig) {
        slowOperations.value.configure(config)
        actionsMax = slowOperations.value.threshold(of: .actions)
        turnMax = slowOperations.value.threshold(of: .turn)
    }

    /// Begins to report to a watchdog where the loop is.
    func report(to position: LoopPosition) { self.position = position }

    // MARK: Turns

    /// Records that the turn has work from here on, if it had none before.
    func beginWork(at now: UInt64) { if turnStart == 0 { turnStart = now } }

    /// Records that the input of a connection is handled from here on. The read before must have
    /// ended.
    func beginRead(of connection: ConnectionID, at now: UInt64, _ progress: ActionProgress) {
        assert(read == nil, "a read begins inside another")
        beginWork(at: now)
        read = OpenRead(connection: connection, start: now, former: progress)
    }

    /// Records that the input of the open read, if there is one, has been handled. Returns the read
    /// if it took so long that the caller completes it for ``keepRead(_:)``.
    func endRead(at now: UInt64, _ progress: ActionProgress) -> SlowEntry? {
        guard let read else { return nil }
        self.read = nil
        let actionCount = progress.actionCount &- read.former.actionCount
        let duration = now &- read.start
        if actionCount > 0 {
            turnActionCount &+= actionCount
            state.value.actions.record(duration / actionCount, times: actionCount)
        }
        guard duration >= turnMax / 2 || actionCount > 0 && duration >= actionsMax else {
            return nil
        }
        var entry = SlowEntry.of(.actions, duration, actions: actionCount)
        entry.connection = read.connection.rawValue
        entry.isMixed = progress.spanCount &- read.former.spanCount > 1
        return entry
    }

    /// Whether a read is open.
    var isReading: Bool { read != nil }

    /// Records that a turn has ended; `asked` returns the last question.
    ///
    /// A slow turn is attributed to the client of the read that took at least half of its time.
    /// Otherwise, a slow turn without actions is attributed to the question that arrived in it and
    /// that the end of the turn answered.
    func endTurn(at now: UInt64, asked: () -> AskedQuestion? = { nil }) {
        assert(read == nil, "a turn ends inside a read")
        let duration = now &- turnStart
        state.value.turns.record(duration)
        if duration >= turnMax { keepTurn(duration, asked) }
        turnStart = 0
        turnActionCount = 0
        if longestReadDuration > 0 { forgetLongestRead() }
    }

    // Apart, as few turns are slow: entries are large.
    @inline(never)
    private func keepTurn(_ duration: UInt64, _ asked: () -> AskedQuestion?) {
        var entry = SlowEntry.of(.turn, duration, actions: turnActionCount)
        if let longestRead, longestReadDuration >= duration / 2 {
            entry.attribute(to: longestRead)
        } else if turnActionCount == 0, let asked = asked(), asked.time >= turnStart {
            entry.attribute(to: asked)
        }
        keep(entry)
    }

    @inline(never)
    private func forgetLongestRead() {
        longestRead = nil
        longestReadDuration = 0
    }

    /// Records the delay of the loop's tick.
    func record(lag nanoseconds: UInt64) { state.value.lag.record(nanoseconds) }

    // MARK: Commits

    /// Records that the journal was given the batch of a turn.
    func beginCommit(of turn: UInt64, byteCount: Int, at now: UInt64) {
        commits.append(turn, byteCount: byteCount, at: now)
    }

    /// Records that the journal has appended the batches of all turns up to `turn`.
    func endCommits(upTo turn: UInt64, at now: UInt64) {
        while let commit = commits.takeFirst(upTo: turn) {
            let duration = now &- commit.start
            state.value.commits.record(duration)
            if duration >= slowOperations.value.threshold(of: .commit) {
                keep(.of(.commit, duration, bytes: UInt64(commit.byteCount)))
            }
        }
    }

    /// Forgets the batches that the journal did not append: it failed, or another server begins.
    func forgetCommits() { commits = CommitTimes() }

    // MARK: Slow operations

    /// Records that a question was answered outside the loop, which took this long.
    func recordAnswer(
        to question: (name: String, path: String?), of connection: ConnectionID, _ peer: Peer,
        byteCount: Int, nanoseconds: UInt64
    ) {
        guard nanoseconds >= slowOperations.value.threshold(of: .question) else { return }
        var entry = SlowEntry.of(.question, nanoseconds, bytes: UInt64(byteCount))
        entry.question = question.name
        entry.path = question.path
        entry.connection = connection.rawValue
        entry.uid = peer.uid
        entry.pid = peer.pid
        keep(entry)
    }

    /// Adds a read to the slow log if its actions took long, and remembers it for the turn.
    func keepRead(_ entry: SlowEntry) {
        if entry.nanoseconds > longestReadDuration {
            (longestRead, longestReadDuration) = (entry, entry.nanoseconds)
        }
        if entry.actions > 0, entry.nanoseconds >= actionsMax { keep(entry) }
    }

    /// Continues with the slow log of a former process.
    func restoreSlow(_ entries: [SlowEntry]) { slowOperations.value.restore(entries) }

    /// Adds an operation to the slow log.
    func keep(_ entry: SlowEntry) { slowOperations.value.add(entry) }
}

extension SlowEntry {
    /// An operation that has ended now, without a number and without a client.
    static func of(
        _ kind: SlowKind, _ nanoseconds: UInt64, actions: UInt64 = 0, bytes: UInt64 = 0
    ) -> SlowEntry {
        SlowEntry(
            number: 0, time: WallClock.milliseconds(), kind: kind, nanoseconds: nanoseconds,
            actions: actions, bytes: bytes)
    }
}

extension SlowEntry {
    /// Takes over the client of a read, and what it sent.
    fileprivate mutating func attribute(to read: SlowEntry) {
        (connection, uid, pid) = (read.connection, read.uid, read.pid)
        (question, path, isMixed) = (read.question, read.path, read.isMixed)
    }

    /// Takes over a question and its client.
    mutating func attribute(to asked: AskedQuestion) {
        let subject = asked.ask.subject
        (question, path) = (subject.name, subject.path)
        (connection, uid, pid) = (asked.connection.rawValue, asked.peer.uid, asked.peer.pid)
    }
}

/// The batches that a journal has not appended, oldest first, and when each was passed to it.
///
/// *Invariants*: turns ascend; those before ``first`` are appended.
struct CommitTimes {
    /// A batch that the journal has.
    struct Commit: Equatable {
        let turn: UInt64
        let byteCount: Int
        /// When the journal was given it, in nanoseconds.
        let start: UInt64
    }

    private var waiting: [Commit] = []
    private var first = 0

    /// Number of batches that are not appended.
    var count: Int { waiting.count - first }

    /// Adds the batch of a later turn.
    mutating func append(_ turn: UInt64, byteCount: Int, at now: UInt64) {
        assert(count == 0 || waiting[waiting.count - 1].turn < turn, "turn \(turn) begins twice")
        waiting.append(Commit(turn: turn, byteCount: byteCount, start: now))
    }

    /// Removes and returns the oldest batch if its turn is at most `turn`.
    mutating func takeFirst(upTo turn: UInt64) -> Commit? {
        guard first < waiting.count, waiting[first].turn <= turn else { return nil }
        defer {
            first += 1
            // More than half is moved at a time, so that the cost for each batch stays constant.
            if first > waiting.count / 2 {
                waiting.removeFirst(first)
                first = 0
            }
        }
        return waiting[first]
    }
}
