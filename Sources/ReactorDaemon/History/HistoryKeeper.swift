import Glibc
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
    let directory: DataDirectory
    private let loop: LoopHandle
    private var task: SnapshotRun?
    private var orders = SnapshotOrders()
    private var trims = TrimCounts()
    /// The bounds of the directory's size: the reserve, and the configured maximum.
    private var bounds: (reserve: DiskReserve, ceiling: DiskCeiling)
    private var record = SnapshotRecord()
    private var fresh: FreshRows
    /// The last turn that the journal has. In a cluster, whose log has the rows before the journal,
    /// `sharedRow` returns the row of the server's last turn, if it has had one; and `isStalled` says
    /// whether the journal lacks rows for lack of space.
    private var progress: (appendedTurn: UInt64, sharedRow: (() -> UInt64?)?, isStalled: Bool) =
        (0, nil, false)

    init(_ history: History, of server: Server, on loop: LoopHandle) throws(DaemonError) {
        self.server = server
        self.loop = loop
        config = history.config
        directory = history.directory
        logger = history.logger
        record.lastRow = history.snapshotNumber ?? 0
        fresh = FreshRows(byteCount: history.replayedByteCount)
        bounds = (
            DiskReserve(in: directory, byteCount: config.reserveBytes),
            DiskCeiling(byteCountMax: config.bytesMax)
        )
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
        if directory.isClaimed { trimAtStart() }
    }

    // A daemon that ends before a snapshot is due takes its only snapshot at its end. Trimming at the
    // start removes the history before it.
    private func trimAtStart() { trim() }

    /// From now on, the log of a cluster has rows before the journal does; `lastRow` returns the row
    /// of the server's last turn, if it has had one.
    func beginSharing(_ lastRow: @escaping () -> UInt64?) { progress.sharedRow = lastRow }

    /// Takes no snapshot while `isStalled` is true: the journal does not have the server's rows.
    func setStalled(_ isStalled: Bool) { progress.isStalled = isStalled }

    /// Whether other daemons have the same history, in a cluster.
    var isSharing: Bool { progress.sharedRow != nil }

    /// Continues with a replacement of the server. A snapshot of the former one is discarded.
    func serve(_ server: Server) {
        task?.cancel()
        task = nil
        self.server = server
        progress.appendedTurn = 0
        orders.forgetRequest()
        if orders.isWaiting { ask() }
    }

    /// Takes snapshots and removes older history as `data` says from here on.
    func keep(_ data: DataConfig) {
        let isShorter =
            data.keepBytes < config.keepBytes || data.keepDuration < config.keepDuration
        config = data
        bounds.ceiling.setMax(data.bytesMax)
        measureDisk()
        if isShorter { trim() }
    }

    /// Whether the disk has room for further rows.
    var hasRoom: Bool { JournalSpace(in: directory).hasRoom }

    /// The figures of the history, for metrics.
    var figures: HistoryFigures {
        HistoryFigures(
            directory: directory, diskByteCountMax: bounds.ceiling.byteCountMax,
            freshByteCount: fresh.byteCount,
            keptRowCount: trims.anchor.map { journal.lastNumber &- $0 },
            trimLagByteCount: journal.trimLagByteCount, latestTime: journal.latestTime,
            stateByteCounts: record.stateByteCounts,
            snapshotsFailed: record.failedCount, snapshotNanoseconds: record.nanoseconds)
    }

    /// The row of the newest snapshot; 0 without one.
    var snapshotNumber: UInt64 { record.lastRow }

    /// Whether the last snapshot could not be written.
    var hasSnapshotFailed: Bool { record.hasFailed }

    /// The marks of running actions, as other threads may read them.
    var marks: ActionMarks { ActionMarks(path: directory.path + "/" + History.marksName) }

    /// Whether neither a snapshot nor a trim is in progress or requested.
    var isIdle: Bool { task == nil && orders.isEmpty && !trims.isTrimming }

    /// The lock of the data directory, for a process that takes it over.
    var lockDescriptor: Int32 { directory.lock }

    /// Makes this process the only one with the data directory: the former one ends.
    func claim() {
        directory.claim()
        // Not before: the former process could still go on with the history.
        trimAtStart()
    }

    /// Whether a trim is in progress.
    var isTrimming: Bool { trims.isTrimming }

    /// Whether disk space should be reserved for a full disk, and is not.
    var lacksReserve: Bool { bounds.reserve.isMissing }

    /// Tries once a minute to reserve missing space. The daemon calls this once a second.
    func tickReserve() { bounds.reserve.tick() }

    /// Releases the reserved space to the journal; returns false if none was reserved.
    func releaseReserve() -> Bool { bounds.reserve.release() }

    /// Reserves the space again if the journal keeps enough room; returns whether it did.
    func regainReserve() -> Bool { bounds.reserve.regain() }

    /// Whether the snapshot in progress needs another turn soon.
    var isGathering: Bool { task?.isGathering ?? false }

    /// Counts a turn's batch that was passed to the journal.
    func countAppended(_ batch: Batch, at now: UInt64) {
        let byteCount = batch.deltas.count + batch.facts.count
        fresh.count(byteCount, at: now)
        bounds.ceiling.count(appended: byteCount)
    }

    /// Called when the journal has appended everything up to a turn.
    func appended(_ turn: UInt64) {
        progress.appendedTurn = turn
        task?.appended(turn)
    }

    /// Advances the snapshot in progress, or requests one if it is due.
    ///
    /// Holds clients back while a snapshot or the removal of older ones is slower than the
    /// journal's growth: with a snapshot in progress, and twice `snapshotBytes` written since the
    /// last, the clients of the users that write most; with three times as many, all clients.
    func advance(at now: UInt64) {
        defer { keepPace() }
        if bounds.ceiling.isDue { measureDisk() }
        record.pass(isRunning: task != nil, at: now)
        if let task {
            task.advance(appendedTurn: progress.appendedTurn)
        } else if isDue(at: now) {
            ask()
        }
    }

    private func isDue(at now: UInt64) -> Bool {
        // On a full disk there are no changes to save, and no room for a snapshot.
        guard fresh.isChanged, server.mode != .full, !progress.isStalled, !isBusy else {
            return false
        }
        if server.admission == .shrinking { return isRelief }
        if bounds.ceiling.isRelief(
            freshByteCount: fresh.byteCount, shrunkByteCount: server.shrunkByteCount)
        {
            return true
        }
        return fresh.byteCount >= config.snapshotBytes
            || fresh.age(at: now) >= config.snapshotInterval
    }

    /// Whether to take a snapshot of smaller states to free space on a full disk.
    private var isRelief: Bool {
        switch bounds.reserve.relief(
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
        guard isBusy else { return server.holdBack(.none) }
        let isScarce = bounds.ceiling.level != .normal
        if isScarce || fresh.byteCount >= 3 * config.snapshotBytes {
            server.holdBack(.all)
        } else {
            server.holdBack(fresh.byteCount >= 2 * config.snapshotBytes ? .heaviest : .none)
        }
    }

    /// Whether a snapshot, or the removal of older ones, is in progress; while space is scarce, also
    /// the removal of rows.
    private var isBusy: Bool {
        task != nil || (bounds.ceiling.level == .normal ? trims.isTidying : trims.isTrimming)
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
            guard !progress.isStalled else {
                snapshot.cancel()
                throw .system(SystemFailure(call: "write", path: directory.path, code: ENOSPC))
            }
            task = try SnapshotRun(
                of: snapshot, number: progress.sharedRow?() ?? journal.lastNumber,
                in: directory, on: loop
            ) { [unowned self] result in
                end(snapshot, result, callbacks)
            }
        } catch {
            end(snapshot, .failure(error), callbacks)
        }
    }

    private func end(
        _ snapshot: ServerSnapshot, _ result: Result<SnapshotHeader, JournalError>,
        _ callbacks: [SnapshotOrders.Callback]
    ) {
        // The result of a snapshot of a former server may come during the next one.
        let task = self.task.flatMap { $0.isOf(snapshot) ? $0 : nil }
        if let task, case .success(let header) = result {
            record.keep(task.stateSizes)
            record.lastRow = header.position.number
        }
        // A snapshot whose file failed may be only partly collected.
        task?.cancel()
        if task != nil { self.task = nil }
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

    // While space is scarce, one snapshot is kept: it suffices for a start.
    private func trim() {
        if !server.admission.lacksSpace, bounds.ceiling.level == .normal {
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
            if case .success(let trim) = result { trims.setAnchor(trim.anchor.number) }
            trims.end()
            // Now, since another snapshot may begin in the next turn: what is left here is needed.
            measureDisk()
            keepPace()
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

    // MARK: The maximum size of the directory

    /// The size of the directory and its maximum, for the daemon's counters.
    var diskCounts: ShellCounts {
        var counts = ShellCounts()
        counts.diskBytes = UInt64(bounds.ceiling.occupiedByteCount)
        counts.diskBytesMax = UInt64(bounds.ceiling.byteCountMax ?? 0)
        return counts
    }

    /// How full the directory is, as last measured.
    var diskLevel: DiskCeiling.Level { bounds.ceiling.level }

    /// Measures the directory, if its size has a maximum, and acts on the result: removes history
    /// that no start needs, and limits the growth of states. The daemon calls this once a second.
    func measureDisk() {
        guard bounds.ceiling.byteCountMax != nil || bounds.ceiling.level != .normal,
            let byteCount = bounds.reserve.occupiedByteCount
        else { return }
        let former = bounds.ceiling.level
        if let level = bounds.ceiling.measure(byteCount, isBusy: isBusy) {
            log(level, byteCount)
            journal.setSpaceScarce(level != .normal)
            if former == .normal { trim() }
        }
        guard bounds.ceiling.level == .full, server.admission == .all else { return }
        server.setCounts(diskCounts)
        server.limitGrowth()
    }

    private func log(_ level: DiskCeiling.Level, _ byteCount: Int) {
        let metadata: Logger.Metadata = [
            "bytes": "\(byteCount)", "bytesMax": "\(bounds.ceiling.byteCountMax ?? 0)",
        ]
        switch level {
        case .normal:
            logger.notice("the data directory is below 90 % of data.bytesMax", metadata: metadata)
        case .scarce:
            logger.warning(
                "the data directory is near data.bytesMax: keeping only what a start needs",
                metadata: metadata)
        case .full:
            logger.error(
                """
                the data directory has reached data.bytesMax: accepting only actions that make \
                states smaller; raise it and reload, or remove what is not needed
                """,
                metadata: metadata)
        }
    }

    /// Commits what waits and closes the files. Unless `skipsSnapshot` is true, records the sums of
    /// changed states, and takes a last snapshot if there are changes since the last one.
    func close(skipsSnapshot: Bool) {
        // A server that has rows before the log has them may have to take them back.
        let isAhead = progress.sharedRow?().map { $0 > journal.lastNumber } ?? false
        let isStale =
            !skipsSnapshot && !isAhead && (task != nil || record.hasFailed || fresh.isChanged)
        task?.cancel()
        task = nil
        // Only the leader of a cluster makes rows.
        if !skipsSnapshot, progress.sharedRow == nil, let batch = server.lastProbe() {
            journal.append(batch)
        }
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
