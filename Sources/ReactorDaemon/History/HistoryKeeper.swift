import Logging
import ReactorBytes
import ReactorJournal
import ReactorLoop
import ReactorServer
import ReactorThreads

/// Bounds the journal's size and the duration of a start: takes snapshots and removes the history
/// before them.
///
/// *Place*: beside the server in its shell, which calls ``advance(at:)`` after every turn. *Owner*:
/// the loop's thread.
final class HistoryKeeper {
    let journal: SQLiteJournal
    /// Called when writing the journal failed: outcomes not yet sent must not be sent.
    var onBroken: (String) -> Void = { _ in }
    /// Called when the disk is full: turns that are not durable yet cannot be made durable.
    var onFull: (String) -> Void = { _ in }
    private var server: Server
    private let logger: Logger
    private var config: DataConfig
    private let directory: DataDirectory
    private let loop: LoopHandle
    private var task: SnapshotRun?
    private var orders = SnapshotOrders()
    private var trims = TrimCounts()
    private var reserve: DiskReserve
    private var record = SnapshotRecord()
    private var fresh: FreshRows
    private var appendedTurn: UInt64 = 0

    init(_ history: History, of server: Server, on loop: LoopHandle) throws(DaemonError) {
        self.server = server
        self.loop = loop
        config = history.config
        directory = history.directory
        logger = history.logger
        fresh = FreshRows(byteCount: history.replayedByteCount)
        reserve = DiskReserve(in: directory, byteCount: config.reserveBytes)
        journal = try history.openJournal(
            durability: config.durability, deliver: { [loop] job in _ = loop.post(job) })
        journal.onAlarm = { [unowned self] alarm in logger.warning("\(alarm)") }
        journal.onFailed = { [unowned self] failure in
            switch failure {
            case .broken(_, let message): onBroken(message)
            case .full(_, let message):
                task?.cancel()
                task = nil
                // On a full disk, history beyond what a start needs is removed first.
                trim(keeping: .nothing)
                onFull(message)
            }
        }
        // A daemon that ends before a snapshot is due takes its only snapshot at its end.
        // Trimming at the start removes the history before it.
        trim()
    }

    /// Continues with a replacement of the server.
    func serve(_ server: Server) {
        self.server = server
        appendedTurn = 0
        orders.forgetRequest()
        if orders.isWaiting { ask() }
    }

    /// Takes snapshots and removes older history as `data` says from here on.
    func keep(_ data: DataConfig) {
        let isShorter =
            data.keepBytes < config.keepBytes || data.keepDuration < config.keepDuration
        config = data
        if isShorter { trim() }
    }

    /// Whether the disk has room for further rows.
    var hasRoom: Bool { JournalSpace(in: directory).hasRoom }

    /// The figures of the history, for metrics.
    var figures: HistoryFigures {
        HistoryFigures(
            directory: directory, freshByteCount: fresh.byteCount,
            snapshotsFailed: record.failedCount, snapshotNanoseconds: record.nanoseconds)
    }

    /// The marks of running actions, as other threads may read them.
    var marks: ActionMarks { ActionMarks(path: directory.path + "/" + History.marksName) }

    /// Whether a trim is in progress.
    var isTrimming: Bool { trims.isTrimming }

    /// Whether disk space should be reserved for a full disk, and is not.
    var lacksReserve: Bool { reserve.isMissing }

    /// Tries once a minute to reserve missing space. The daemon calls this once a second.
    func tickReserve() { reserve.tick() }

    /// Releases the reserved space to the journal; returns false if none was reserved.
    func releaseReserve() -> Bool { reserve.release() }

    /// Reserves the space again if the journal keeps enough room; returns whether it did.
    func regainReserve() -> Bool { reserve.regain() }

    /// Whether the snapshot in progress needs another turn soon.
    var isGathering: Bool { task?.isGathering ?? false }

    /// Counts a turn's batch that was passed to the journal.
    func countAppended(_ batch: Batch, at now: UInt64) {
        fresh.count(batch.deltas.count + batch.facts.count, at: now)
    }

    /// Called when the journal has appended everything up to a turn.
    func appended(_ turn: UInt64) {
        appendedTurn = turn
        task?.appended(turn)
    }

    /// Advances the snapshot in progress, or requests one if it is due.
    ///
    /// Holds clients back while a snapshot or the removal of older ones is slower than the
    /// journal's growth: with one in progress and twice `snapshotBytes` written since the last.
    func advance(at now: UInt64) {
        defer { keepPace() }
        record.pass(isRunning: task != nil, at: now)
        if let task {
            task.advance(appendedTurn: appendedTurn)
        } else if isDue(at: now) {
            ask()
        }
    }

    private func isDue(at now: UInt64) -> Bool {
        // A read-only server has no changes to save, and a full disk has no room for a snapshot.
        guard fresh.isChanged, !server.isReadOnly, !trims.isTidying else { return false }
        guard server.admission == .all else { return isRelief }
        return fresh.byteCount >= config.snapshotBytes
            || fresh.age(at: now) >= config.snapshotInterval
    }

    /// Whether to take a snapshot of smaller states to free space on a full disk.
    private var isRelief: Bool {
        switch reserve.relief(
            shrunkByteCount: server.shrunkByteCount, freshByteCount: fresh.byteCount)
        {
        case .none: return false
        case .snapshot: return true
        case .dropOlder:
            trim(keeping: .nothing, snapshots: 1)
            return false
        }
    }

    private func keepPace() {
        let isBusy = task != nil || trims.isTidying
        server.holdBack(isBusy && fresh.byteCount >= 2 * config.snapshotBytes)
    }

    /// Requests a snapshot of the current revision and calls `onDone` with the result. If a
    /// snapshot is in progress, another follows it.
    func snapshot(_ onDone: @escaping SnapshotOrders.Callback) {
        orders.add(onDone)
        if task == nil { ask() }
    }

    private func ask() { if orders.request() { server.wantSnapshot() } }

    /// Starts writing a snapshot of the state after the last appended batch.
    func begin(_ snapshot: ServerSnapshot) {
        let callbacks = orders.begin()
        fresh.clear()
        do throws(JournalError) {
            task = try SnapshotRun(
                of: snapshot, number: journal.lastNumber, in: directory, on: loop
            ) { [unowned self] result in
                end(result, callbacks)
            }
        } catch {
            end(.failure(error), callbacks)
        }
    }

    private func end(
        _ result: Result<SnapshotHeader, JournalError>,
        _ callbacks: [SnapshotOrders.Callback]
    ) {
        // A snapshot whose file failed may be only partly collected.
        task?.cancel()
        task = nil
        record.end(hasFailed: (try? result.get()) == nil)
        switch result {
        case .success(let header):
            logger.info(
                "took a snapshot",
                metadata: [
                    "row": "\(header.position.number)", "sequence": "\(header.position.sequence)",
                ])
            trim()
        case .failure(let error): logger.error("no snapshot was taken: \(error)")
        }
        for callback in callbacks { callback(result) }
        if orders.isWaiting { ask() }
        keepPace()
    }

    // On a full disk one snapshot is kept: it suffices for a start.
    private func trim() {
        if server.admission == .all {
            trim(
                keeping: JournalRetention(
                    duration: config.keepDuration, byteCount: config.keepBytes))
        } else {
            trim(keeping: .nothing, snapshots: 1)
        }
    }

    private func trim(
        keeping retention: JournalRetention, snapshots count: Int = SnapshotStore.keptCount
    ) {
        trims.begin()
        let onRemoved = { [weak self] in
            guard let self else { return }
            trims.endTidying()
            keepPace()
        }
        journal.trimBehindSnapshots(
            count, keeping: retention, onRemoved: onRemoved
        ) { [weak self] result in
            guard let self else { return }
            trims.end()
            switch result {
            case .success(let trim):
                guard trim.rowCount > 0 else { return }
                logger.info(
                    "removed older history",
                    metadata: ["rows": "\(trim.rowCount)", "upTo": "\(trim.anchor.number)"])
            case .failure(let error):
                logger.error("older history could not be removed: \(error)")
            }
        }
    }

    /// Commits what waits and closes the files. Unless `skipsSnapshot` is true, records the sums of
    /// changed states, and takes a last snapshot if there are changes since the last one.
    func close(skipsSnapshot: Bool) {
        let isStale = !skipsSnapshot && (task != nil || record.hasFailed || fresh.isChanged)
        task?.cancel()
        task = nil
        if !skipsSnapshot, let batch = server.lastProbe() { journal.append(batch) }
        journal.close()
        guard isStale, let snapshot = server.lastSnapshot() else { return }
        do throws(JournalError) {
            try snapshot.write(of: journal.lastNumber, in: directory)
        } catch {
            return logger.error(
                "no snapshot was taken at the end, the next start replays: \(error)")
        }
        do throws(JournalError) {
            try SnapshotStore(directory).removeOlder()
        } catch {
            logger.error("older history could not be removed: \(error)")
        }
    }
}
