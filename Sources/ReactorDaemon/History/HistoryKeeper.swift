import Logging
import ReactorBytes
import ReactorJournal
import ReactorLoop
import ReactorServer
import ReactorThreads

/// Sees to it that the journal of a running daemon does not grow for ever, and that a start does not
/// take for ever: takes snapshots, and trims what they stand for.
///
/// *Place*: beside the server in its shell, asked after every turn. *Owner*: the loop's thread.
final class HistoryKeeper {
    let journal: SQLiteJournal
    var logger = Logger(label: "history")
    /// Told that the disk failed: nothing that was not told yet may be told any more.
    var onBroken: (String) -> Void = { _ in }
    /// Told what clients missed, by the number of the question.
    var onMissed: (_ number: UInt64, _ frames: [UInt8]?) -> Void = { _, _ in }
    /// Who looks it up.
    private(set) lazy var missed = MissedReader(directory, on: loop) { [unowned self] in
        onMissed($0, $1)
    }
    /// Told that there is no room: nothing that was not told yet can be kept.
    var onFull: (String) -> Void = { _ in }
    private var server: Server
    private let config: DataConfig
    private let directory: DataDirectory
    private let loop: LoopHandle
    private var task: SnapshotRun?
    /// Whether the server was asked for a snapshot and has not begun it.
    private var isAsked = false
    /// How many trims are under way.
    private var trimCount = 0
    /// How often older snapshots have yet to go.
    private var tidyingCount = 0
    /// What is kept of the disk for the time when it is full.
    var reserve: DiskReserve
    /// Whether the last snapshot failed.
    private var hasFailed = false
    /// Bytes that the journal got since the newest snapshot.
    private var freshByteCount: Int
    /// When the oldest change came that no snapshot has, in nanoseconds.
    private var freshSince: UInt64?
    private var appendedTurn: UInt64 = 0
    /// What is to be told when the snapshot that was asked for is there.
    private var waiting: [(Result<SnapshotHeader, JournalError>) -> Void] = []

    init(_ history: History, of server: Server, on loop: LoopHandle) throws(DaemonError) {
        self.server = server
        self.loop = loop
        config = history.config
        directory = history.directory
        freshByteCount = history.replayedByteCount
        reserve = DiskReserve(in: directory, byteCount: config.reserveBytes)
        do throws(JournalError) {
            journal = try SQLiteJournal(
                directory, durability: config.durability, after: history.position,
                deliver: { [loop] job in _ = loop.post(job) })
        } catch {
            throw .journal(error)
        }
        journal.onAlarm = { [unowned self] alarm in logger.warning("\(alarm)") }
        journal.onFailed = { [unowned self] failure in
            switch failure {
            case .broken(_, let message): onBroken(message)
            case .full(_, let message):
                task?.cancel()
                task = nil
                // because what is kept beyond what a start needs gives way first
                trim(keeping: .nothing)
                onFull(message)
            }
        }
        // because a daemon that always ends before a snapshot is due takes its last one when it ends
        trim()
    }

    /// Goes on with another server in the place of the one at hand.
    func serve(_ server: Server) {
        self.server = server
        appendedTurn = 0
        isAsked = false
        if !waiting.isEmpty { ask() }
    }

    /// Whether the disk has room for the journal to go on.
    var hasRoom: Bool { directory.hasRoom }

    /// Whether rows that no start needs are being removed.
    var isTrimming: Bool { trimCount > 0 }

    /// Whether a snapshot wants another turn soon.
    var isGathering: Bool { task?.isGathering ?? false }

    /// Takes note that a turn's batch was handed to the journal.
    func noteHanded(_ batch: Batch, at now: UInt64) {
        freshByteCount += batch.deltas.count + batch.facts.count
        if freshSince == nil { freshSince = now }
    }

    /// Takes note that the journal holds everything up to a turn.
    func noteAppended(_ turn: UInt64) {
        appendedTurn = turn
        task?.noteAppended(turn)
    }

    /// Goes on with the snapshot that is being taken, or begins one where it is time.
    ///
    /// Clients wait where a snapshot, or the removal of older ones, takes longer than they take to
    /// write what two snapshots stand for.
    func look(at now: UInt64) {
        defer { keepPace() }
        if let task {
            task.advance(appendedTurn: appendedTurn)
        } else if isDue(at: now) {
            ask()
        }
    }

    private func isDue(at now: UInt64) -> Bool {
        // because nothing changes meanwhile, and a full disk has no room for it either
        guard let freshSince, !server.isReadOnly, tidyingCount == 0 else { return false }
        guard server.admission == .all else { return isRelief }
        return freshByteCount >= config.snapshotBytes
            || Duration.nanoseconds(now &- freshSince) >= config.snapshotInterval
    }

    /// Whether a snapshot of states that have become smaller gives room on a full disk.
    private var isRelief: Bool {
        switch reserve.relief(
            shrunkByteCount: server.shrunkByteCount, freshByteCount: freshByteCount)
        {
        case .none: return false
        case .snapshot: return true
        case .dropOlder:
            trim(keeping: .nothing, snapshots: 1)
            return false
        }
    }

    private func keepPace() {
        let isBusy = task != nil || tidyingCount > 0
        server.holdBack(isBusy && freshByteCount >= 2 * config.snapshotBytes)
    }

    /// Takes a snapshot of the revision at hand, or waits for the one that is being taken and then
    /// takes another; `onDone` is told.
    func snapshot(_ onDone: @escaping (Result<SnapshotHeader, JournalError>) -> Void) {
        waiting.append(onDone)
        if task == nil { ask() }
    }

    private func ask() {
        guard !isAsked else { return }
        isAsked = true
        server.wantSnapshot()
    }

    /// Keeps a snapshot of the batch that was handed over last.
    func begin(_ snapshot: ServerSnapshot) {
        isAsked = false
        let told = waiting
        waiting = []
        freshByteCount = 0
        freshSince = nil
        do throws(JournalError) {
            task = try SnapshotRun(
                of: snapshot, number: journal.lastNumber, in: directory, on: loop
            ) { [unowned self] result in
                end(result, told)
            }
        } catch {
            end(.failure(error), told)
        }
    }

    private func end(
        _ result: Result<SnapshotHeader, JournalError>,
        _ told: [(Result<SnapshotHeader, JournalError>) -> Void]
    ) {
        // because one whose file failed may be half gathered
        task?.cancel()
        task = nil
        hasFailed = (try? result.get()) == nil
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
        for tell in told { tell(result) }
        if !waiting.isEmpty { ask() }
        keepPace()
    }

    // On a full disk one snapshot to start from is enough, and a larger one makes room.
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
        keeping retention: JournalRetention, snapshots count: Int = SnapshotShelf.keptCount
    ) {
        tidyingCount += 1
        trimCount += 1
        let onRemoved = { [weak self] in
            guard let self else { return }
            tidyingCount -= 1
            keepPace()
        }
        journal.trimBehindSnapshots(
            count, keeping: retention, onRemoved: onRemoved
        ) { [weak self] result in
            guard let self else { return }
            trimCount -= 1
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

    /// Commits what waits, takes a last snapshot if there is anything new and nobody is in a hurry, and
    /// lets the files go.
    func close(isHurried: Bool) {
        let isStale = !isHurried && (task != nil || hasFailed || freshSince != nil)
        task?.cancel()
        task = nil
        journal.close()
        guard isStale, let snapshot = server.lastSnapshot() else { return }
        do throws(JournalError) {
            try snapshot.write(of: journal.lastNumber, in: directory)
            try SnapshotShelf(directory).removeOlder()
        } catch {
            logger.error("no snapshot was taken at the end, the next start replays: \(error)")
        }
    }
}
