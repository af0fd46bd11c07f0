package import Logging
import ReactorBytes
package import ReactorCore
import ReactorJournal
import ReactorLoop
import ReactorServer
import ReactorThreads
import ReactorWire

/// The history of a daemon that is not running, for the operator.
///
/// *Place*: behind `reactord`'s subcommands. Reading changes nothing; an import or a rebaseline
/// appends to the journal, as a running daemon does.
package struct OfflineHistory {
    private let config: DataConfig
    private let limits: ServerLimits
    private let environment: [String: String]
    private let uid: UInt32
    /// The path of the data directory.
    package let directory: String
    /// Whether the path is the default of the environment, not given by the operator.
    private let isChosen: Bool
    private var path: String { directory }

    /// Locates the data of the daemon with this configuration. `directory` overrides the place,
    /// for example with a copy.
    ///
    /// *Throws*: if the configuration keeps no history.
    package init(
        of config: DaemonConfig, in directory: String? = nil, environment: [String: String],
        uid: UInt32
    ) throws(DaemonError) {
        guard var data = config.data ?? directory.map({ _ in DataConfig() }) else {
            throw .past("\(config.file) has no `data:`: such a daemon keeps no history")
        }
        let path = try History.path(
            directory ?? data.directory, of: config.name, environment, uid: uid)
        isChosen = directory ?? data.directory == nil
        data.directory = path
        self.config = data
        self.directory = path
        (limits, self.environment, self.uid) = (config.limits, environment, uid)
    }

    /// Returns the tree's value at a revision, by default at the end. `text` is a revision, or a
    /// sequence number of the last epoch.
    package func value(
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

    private func past(
        of root: some Reactor, at text: String? = nil, surveys: Bool = false
    ) throws(DaemonError) -> PastTree {
        do throws(PastError) {
            let directory = try PastTree.reading { () throws(JournalError) in
                try DataDirectory(examining: path)
            }
            var target: Revision?
            if let text { target = try PastTree.revision(text, directory) }
            return try PastTree(
                root, in: directory, at: target, limits: limits, dropped: config.dropped,
                surveys: surveys)
        } catch {
            throw error.daemonError
        }
    }
}

// MARK: - Forecast of a start
extension OfflineHistory {
    /// Describes what a start would do with the data, and all differences between the history and
    /// today's reactors.
    ///
    /// *Throws*: what ends a start before it has read the history.
    package func forecast(of root: some Reactor) throws(DaemonError) -> StartForecast {
        if let forecast = try forecastOfUnread() { return forecast }
        let past = try past(of: root, surveys: true)
        // Rows that today's types cannot read say nothing about `reduce`.
        let isReadable = past.survey?.refusals.isEmpty ?? true
        let earlier =
            isReadable
            ? try verifyEarlierRows(before: past.snapshotNumber, in: past.directory, root) : []
        return StartForecast(past, earlier: earlier, path: path, dropped: config.dropped)
    }

    /// The forecast of a start that reads no history; nil if there is one to read.
    private func forecastOfUnread() throws(DaemonError) -> StartForecast? {
        do throws(JournalError) {
            let report = try Self.examine(path)
            if let first = report.findings.first { throw first }
            return nil
        } catch {
            switch error {
            case .unusableDirectory(_, .isMissing):
                // A start makes only the last component of a path that the operator gave.
                guard isChosen || Self.isDirectory(above: path) else {
                    throw .journal(.unusableDirectory(path: path, .isWithoutParent))
                }
                return StartForecast("\(path) is created, and a history begins")
            case .missing(let file, _) where !Self.isAnythingKept(beside: file):
                return StartForecast("\(path) is empty, and a history begins")
            case .inUse(_, let pid):
                let holder = pid.map { " by pid \($0)" } ?? ""
                return StartForecast(
                    "\(path) is in use\(holder), and nothing is compared: stop that daemon, or "
                        + "examine a backup, to see what a start would do",
                    refusal: .journal(error))
            default: throw .journal(error)
            }
        }
    }

    /// Describes the rows before the snapshot of row `number` as a start verifies them.
    private func verifyEarlierRows(
        before number: UInt64?, in directory: DataDirectory, _ root: some Reactor
    ) throws(DaemonError) -> [String] {
        guard let number else { return [] }
        let rows: EarlierRows?
        do throws(JournalError) {
            rows = try EarlierRows(before: number, in: directory, dropped: config.dropped)
        } catch {
            throw .journal(error)
        }
        switch try rows?.verify(root, limits) {
        case nil, .none?: return []
        case .verified?: return ["verified the rows before the snapshot"]
        case .unverified(let text)?: return ["unverified before the snapshot: \(text)"]
        }
    }

    private static func isDirectory(above path: String) -> Bool {
        var parent = path[...]
        while parent.last == "/" { parent.removeLast() }
        while let last = parent.last, last != "/" { parent.removeLast() }
        return FileSystem.isDirectory(parent.isEmpty ? "." : String(parent))
    }

    private static func isAnythingKept(beside file: String) -> Bool {
        isAnythingKept(in: String(file.dropLast("/journal.sqlite".count)))
    }

    private static func isAnythingKept(in directory: String) -> Bool {
        FileSystem.names(in: directory).contains {
            $0.hasPrefix("journal.sqlite") || $0.hasPrefix("snapshot-") || $0 == "released-row"
        }
    }

    // A separate function, so that the doctor and its lock on the directory are released on
    // return.
    private static func examine(_ path: String) throws(JournalError) -> JournalReport {
        try JournalDoctor(at: path).examine()
    }
}

// MARK: - Changes
extension OfflineHistory {
    /// Replaces states from lines of JSON, in the format of `reactorctl export`; all of them or
    /// none. The import begins a new epoch, so reconnecting clients get complete values. Without
    /// a history, begins one if `beginsNew` is true.
    ///
    /// *Returns*: the number of states, and the new revision.
    package func importStates(
        _ lines: [Substring], into root: some Reactor, beginsNew: Bool = false, _ logger: Logger
    ) throws(DaemonError) -> (count: Int, revision: Revision) {
        // Protects against a history in a directory that the daemon does not use.
        guard beginsNew || Self.isAnythingKept(in: path) else {
            throw .unusableImport(
                "\(path) contains no history: name the daemon's directory under `data: directory:`, "
                    + "or begin a history there with --new")
        }
        guard lines.contains(where: { !$0.allSatisfy(\.isWhitespace) }) else {
            throw .unusableImport("the file names no state: nothing was changed")
        }
        let (history, recovery, epoch) = try open(root, logger)
        let tree = recovery.tree
        // The layout is taken before the import: nodes that the import creates are in the facts
        // after it.
        let schemas = tree.takeSchemas()
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
        let facts = [
            TurnFact.schemas(schemas + tree.takeSchemas()), .layout(layout),
            .replaced(tree.encodeSaved(nodes)),
        ]
        let end = try append(facts, epoch, to: history)
        return (count, Revision(epoch: epoch, sequence: end.sequence))
    }

    /// Makes the state that today's reactors replay the history to the start of a new epoch, with
    /// a snapshot.
    ///
    /// *Returns*: the new revision, and the snapshot's row number.
    package func rebaseline(
        _ root: some Reactor, _ logger: Logger
    ) throws(DaemonError) -> (revision: Revision, row: UInt64) {
        guard Self.isAnythingKept(in: path) else {
            throw .past(
                "\(path) contains no history: name the daemon's directory under `data: directory:`")
        }
        let (history, recovery, epoch) = try open(root, logger, acceptsDivergence: true)
        let tree = recovery.tree
        let facts = [TurnFact.schemas(tree.takeSchemas()), .layout(tree.takeLayout())]
        let end = try append(facts, epoch, to: history)
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
        if acceptsDivergence { recovery.acceptDivergence() }
        return (history, try history.recover(recovery, epoch: epoch), epoch)
    }

    /// Appends a row of facts that begins an epoch, and waits until the row is durable.
    private func append(
        _ facts: [TurnFact], _ epoch: UInt64, to history: History
    ) throws(DaemonError) -> (number: UInt64, sequence: UInt64) {
        var writer = WireWriter()
        for fact in facts { fact.encode(into: &writer) }
        let sequence = history.position.sequence
        let bell = Bell()
        let failure = Guarded<String?>(nil)
        let journal = try history.openJournal(durability: .strict, deliver: { job in job() })
        journal.onAppended = { _ in bell.ring() }
        journal.onFailed = { found in
            switch found {
            case .broken(_, let text), .full(_, let text): failure.withLock { $0 = text }
            }
            bell.ring()
        }
        journal.append(
            Batch(
                turn: 1, epoch: epoch, after: sequence, sequence: sequence, facts: writer.bytes))
        bell.wait()
        let number = journal.lastNumber
        journal.close()
        if let text = failure.withLock({ $0 }) { throw .diskFailed(text) }
        return (number, sequence)
    }
}
