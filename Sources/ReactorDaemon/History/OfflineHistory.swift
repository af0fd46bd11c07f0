import Foundation
public import Logging
public import ReactorCore
import ReactorJournal
import ReactorServer
import ReactorThreads
import ReactorWire

/// The history of a daemon that does not run, for the operator.
///
/// *Place*: behind `reactord`'s subcommands. Looking changes nothing; an import and a new baseline
/// append to the journal, as a running daemon does.
public struct OfflineHistory {
    private let config: DataConfig
    private let limits: ServerLimits
    private let environment: [String: String]
    private let uid: UInt32
    /// Where the data are.
    public let directory: String
    /// Whether the environment has chosen that place, and not the operator.
    private let isChosen: Bool
    private var path: String { directory }

    /// Finds the data of the daemon with this configuration; `directory` names another place, such
    /// as a copy.
    ///
    /// *Throws*: where the daemon keeps nothing.
    public init(
        of config: DaemonConfig, in directory: String? = nil, environment: [String: String],
        uid: UInt32
    ) throws(DaemonError) {
        guard var data = config.data ?? directory.map({ _ in DataConfig() }) else {
            throw .past("\(config.file) has no `data:`: such a daemon keeps no history")
        }
        guard let path = directory ?? data.directory ?? DataPlace.choose(environment, uid: uid)
        else { throw .noDataPlace }
        isChosen = directory ?? data.directory == nil
        data.directory = path
        self.config = data
        self.directory = path
        (limits, self.environment, self.uid) = (config.limits, environment, uid)
    }

    /// The tree's value as of a revision, or of the end: `text` is what the operator wrote, a
    /// revision or a sequence of the last epoch.
    public func value(
        of root: some Reactor, at text: String? = nil
    ) throws(DaemonError) -> (revision: Revision, value: WireValue) {
        let past = try past(of: root, at: text)
        var writer = WireWriter()
        past.tree.root.encodeValue(into: &writer)
        do throws(WireError) {
            return (past.revision, try WireValue(wireBytes: writer.bytes))
        } catch {
            throw .past("the tree's value: \(error)")
        }
    }

    private func past(of root: some Reactor, at text: String?) throws(DaemonError) -> PastTree {
        do throws(PastError) {
            let directory = try PastTree.reading { () throws(JournalError) in
                try DataDirectory(examining: path)
            }
            return try PastTree(
                root, in: directory, at: try Self.revision(text, directory), limits: limits,
                dropped: config.dropped)
        } catch {
            throw error.daemonError
        }
    }

    private static func revision(
        _ text: String?, _ directory: DataDirectory
    ) throws(PastError) -> Revision? {
        guard let text else { return nil }
        if let revision = Revision(text) { return revision }
        guard let sequence = UInt64(text) else {
            throw .outOfReach("\(text): expected a revision such as 9f86d081884c7d65:42, or 42")
        }
        let epoch = try PastTree.reading { () throws(JournalError) in
            let reader = try JournalReader(directory)
            var epoch = reader.anchor.epoch
            // because a copy ends with a row of none, which no revision is of
            while let row = try reader.next() { if row.epoch != 0 { epoch = row.epoch } }
            return epoch
        }
        return Revision(epoch: epoch, sequence: sequence)
    }
}

// MARK: - Beforehand
extension OfflineHistory {
    /// What a start would do with the data: one fact per line.
    ///
    /// *Throws*: what a start would be refused with.
    public func forecast(of root: some Reactor) throws(DaemonError) -> [String] {
        do throws(JournalError) {
            let report = try Self.examine(path)
            if let first = report.findings.first { throw first }
        } catch {
            switch error {
            case .unusableDirectory(_, .isMissing):
                // because no more than the last of a path that the operator named is made
                guard isChosen || Self.isDirectory(above: path) else {
                    throw .journal(.unusableDirectory(path: path, .isWithoutParent))
                }
                return ["\(path) is made, and a history begins"]
            case .missing(let file, _) where !Self.isAnythingKept(beside: file):
                return ["\(path) is empty, and a history begins"]
            case .inUse(_, let pid):
                let holder = pid.map { " by pid \($0)" } ?? ""
                return [
                    "\(path) is in use\(holder): stop that daemon, or look at a backup, to learn what "
                        + "a start would do"
                ]
            default: throw .journal(error)
            }
        }
        let past = try past(of: root, at: nil)
        var lines = ["goes on from \(path)"]
        lines += past.passedOver.map { "a snapshot is passed over: \($0)" }
        lines.append(
            past.snapshotNumber.map { "starts from the snapshot of row \($0)" }
                ?? "starts from the first row")
        let end =
            past.revision.epoch == 0
            ? "sequence \(past.revision.sequence), and begins an epoch"
            : "revision \(past.revision)"
        lines.append("replays \(past.rowCount) rows, up to \(end)")
        let lost = past.lostPaths
        lines += past.newPaths.filter { !lost.contains($0) }.map { "\($0) is new" }
        for path in lost {
            let other = past.tree.node(at: path).map { ", and begins as \($0.reactorName)" }
            lines.append("\(path) is dropped\(other ?? "")")
        }
        return lines
    }

    private static func isDirectory(above path: String) -> Bool {
        let parent = URL(filePath: path).deletingLastPathComponent().path(percentEncoded: false)
        // because only a directory has itself in it
        return FileManager.default.fileExists(atPath: parent + "/.")
    }

    private static func isAnythingKept(beside file: String) -> Bool {
        isAnythingKept(in: String(file.dropLast("/journal.sqlite".count)))
    }

    private static func isAnythingKept(in directory: String) -> Bool {
        let names = (try? FileManager.default.contentsOfDirectory(atPath: directory)) ?? []
        return names.contains {
            $0.hasPrefix("journal.sqlite") || $0.hasPrefix("snapshot-") || $0 == "released-row"
        }
    }

    // because a directory is locked as long as who examines it is there
    private static func examine(_ path: String) throws(JournalError) -> JournalReport {
        try JournalDoctor(at: path).examine()
    }
}

// MARK: - Changes
extension OfflineHistory {
    /// Puts states in the place of those at hand, one per line of JSON, as `reactorctl export`
    /// writes them; all of them or none. A new epoch begins: clients that were connected before get
    /// everything afresh. Where nothing is kept yet, a history begins if `beginsNew` says so.
    ///
    /// *Answers*: how many states there were, and the new revision.
    public func importStates(
        _ lines: [Substring], into root: some Reactor, beginsNew: Bool = false, _ logger: Logger
    ) throws(DaemonError) -> (count: Int, revision: Revision) {
        // because a history that begins at another place than the daemon's helps nobody
        guard beginsNew || Self.isAnythingKept(in: path) else {
            throw .unusableImport(
                "\(path) holds no history: name the daemon's place under `data: directory:`, or "
                    + "begin one there with --new")
        }
        guard lines.contains(where: { !$0.allSatisfy(\.isWhitespace) }) else {
            throw .unusableImport("the file names no state: nothing was changed")
        }
        let (history, recovery, epoch) = try open(root, logger)
        let tree = recovery.tree
        // taken before, as the history is: what the import makes is in the facts behind it
        let layout = tree.takeLayout()
        var changed: [UInt32: AnyNode] = [:]
        var count = 0
        for (index, line) in lines.enumerated() where !line.allSatisfy(\.isWhitespace) {
            do {
                let saved = try SavedState(json: String(line), for: tree)
                for node in try tree.importState(saved.bytes.span, at: saved.path) {
                    changed[node.number] = node
                }
                count += 1
            } catch {
                throw .unusableImport("line \(index + 1): \(error)")
            }
        }
        let nodes = changed.values.sorted { $0.path.components.count < $1.path.components.count }
        let facts = [TurnFact.layout(layout), .replaced(tree.encodeSaved(nodes))]
        let end = try append(facts, epoch, to: history)
        return (count, Revision(epoch: epoch, sequence: end.sequence))
    }

    /// Makes what the history is replayed to today the state that a start goes on from, in a new
    /// epoch and with a snapshot of its own.
    ///
    /// *Answers*: the new revision, and the snapshot's row.
    public func rebaseline(
        _ root: some Reactor, _ logger: Logger
    ) throws(DaemonError) -> (revision: Revision, row: UInt64) {
        guard Self.isAnythingKept(in: path) else {
            throw .past(
                "\(path) holds no history: name the daemon's place under `data: directory:`")
        }
        let (history, recovery, epoch) = try open(root, logger, acceptsDivergence: true)
        let end = try append([.layout(recovery.tree.takeLayout())], epoch, to: history)
        do throws(JournalError) {
            try recovery.beginSnapshot().write(of: end.number, in: history.directory)
        } catch {
            throw .journal(error)
        }
        return (Revision(epoch: epoch, sequence: end.sequence), end.number)
    }

    private func open(
        _ root: some Reactor, _ logger: Logger, acceptsDivergence: Bool = false
    ) throws(DaemonError) -> (History, Recovery, epoch: UInt64) {
        let history = try History(config, environment: environment, uid: uid, logger)
        let epoch = UInt64.random(in: 1 ... .max)
        let tree = Tree(root, epoch: epoch, recordsDeltas: false)
        let recovery = Recovery(of: tree, limits: limits, dropped: config.dropped)
        recovery.acceptsDivergence = acceptsDivergence
        return (history, try history.recover(recovery, epoch: epoch), epoch)
    }

    /// Appends a row of facts that begins an epoch, and waits until it is durable.
    private func append(
        _ facts: [TurnFact], _ epoch: UInt64, to history: History
    ) throws(DaemonError) -> (number: UInt64, sequence: UInt64) {
        var writer = WireWriter()
        for fact in facts { fact.encode(into: &writer) }
        let sequence = history.position.sequence
        let bell = Bell()
        let failure = Guarded<String?>(nil)
        let journal: SQLiteJournal
        do throws(JournalError) {
            journal = try SQLiteJournal(
                history.directory, durability: .strict, after: history.position,
                deliver: { job in job() })
        } catch {
            throw .journal(error)
        }
        journal.onAppended = { _ in bell.ring() }
        journal.onFailed = { found in
            switch found {
            case .broken(_, let text), .full(_, let text): failure.withLock { $0 = text }
            }
            bell.ring()
        }
        journal.append(
            JournalBatch(
                turn: 1, epoch: epoch, after: sequence, sequence: sequence, bytes: [],
                range: 0..<0, facts: writer.bytes))
        bell.wait()
        let number = journal.lastNumber
        journal.close()
        if let text = failure.withLock({ $0 }) { throw .diskFailed(text) }
        return (number, sequence)
    }
}
