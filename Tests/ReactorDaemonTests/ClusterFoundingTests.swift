import Foundation
import Logging
import ReactorBytes
import ReactorCluster
import ReactorCore
import ReactorThreads
import ReactorWire
import StockReactors
import TestPrograms
import Testing

@testable import ReactorDaemon
@testable import ReactorJournal

/// The beginning of a cluster's history, from real data directories; a variable stands for etcd.
struct ClusterFoundingTests {
    private let home = TestDirectory()

    private let root = ReactorGroup([("lock", Lock())])

    private var path: String { home.path("data") }

    private func config(data name: String? = "data") -> DaemonConfig {
        let nodes = [("a", 1), ("b", 2), ("c", 3)].map {
            ClusterConfig.Member($0.0, ClusterNode($0.1))
        }
        var config = DaemonConfig()
        config.cluster = ClusterConfig(
            name: "house", node: nodes[0], engine: "/nowhere", nodes: nodes)
        guard let name else { return config }
        var data = DataConfig()
        data.directory = home.path(name)
        config.data = data
        return config
    }

    /// Founds the cluster with the data directory `name`, unless `stored` is its beginning already.
    private func found(
        _ name: String = "data", in stored: inout ClusterOrigin?
    ) throws -> ClusterFounding {
        try found(config(data: name), in: &stored)
    }

    private func found(
        _ config: DaemonConfig, in stored: inout ClusterOrigin?
    ) throws -> ClusterFounding {
        var there = stored
        defer { stored = there }
        return try ClusterFounding(
            of: config, with: root, environment: [:], uid: 0, Logger(label: "tests"),
            existing: { _ in there },
            found: { (cluster, origin) throws(DaemonError) in
                #expect(cluster.name == "house")
                let first = there ?? origin
                there = first
                return first
            })
    }

    /// The text of the error for a directory that must be refused before anything is stored.
    private func refusal(
        _ config: DaemonConfig, sourceLocation: SourceLocation = #_sourceLocation
    ) -> String? {
        var stored: ClusterOrigin?
        let error = #expect(throws: DaemonError.self, sourceLocation: sourceLocation) {
            try found(config, in: &stored)
        }
        #expect(stored == nil, sourceLocation: sourceLocation)
        #expect(error?.exitCode == 78, sourceLocation: sourceLocation)
        return error?.description
    }

    /// Appends a row without changes for each sequence; returns the end of the history.
    @discardableResult
    private func append(
        _ sequences: [UInt64], epoch: UInt64 = 7, log words: [UInt64]? = nil
    ) throws -> JournalPosition {
        let directory = try DataDirectory(at: path)
        try SQLiteJournal.prepare(directory)
        let end = try JournalReader(directory).verifyRest()
        let journal = try SQLiteJournal(
            directory, durability: .strict, after: end, deliver: { job in job() })
        let stored = Bell()
        journal.onAppended = { _ in stored.ring() }
        var rows = RowNumbering(after: end)
        for sequence in sequences {
            let batch = Batch(
                turn: sequence, epoch: epoch, after: sequence - 1, sequence: sequence)
            if let words {
                journal.store([try rows.row(of: batch, at: 5)], log: words)
            } else {
                journal.append(batch)
            }
            stored.wait()
        }
        journal.close()
        return try JournalReader(directory).verifyRest()
    }

    @Test("a new directory founds a cluster with an empty history and a random epoch")
    func new() throws {
        var stored: ClusterOrigin?
        let founding = try found(in: &stored)
        #expect(
            founding.line
                == "founded cluster house: its history begins after row 0; start the daemons now")
        let origin = try #require(stored)
        let reader = try JournalReader(DataDirectory(at: path))
        #expect(origin.instance == reader.instance.words)
        #expect(origin.row == RowPosition(number: 0, chain: reader.position.chain))
        #expect(origin.epoch != 0 && origin.sequence == 0 && origin.time == 0)
    }

    @Test("a history with rows founds a cluster that continues after its last row")
    func existing() throws {
        let end = try append([1, 2, 3])
        var stored: ClusterOrigin?
        let founding = try found(in: &stored)
        #expect(founding.line.contains("begins after row 3;"), "\(founding.line)")
        let origin = try #require(stored)
        #expect(origin.epoch == 7 && origin.sequence == 3 && origin.time == end.time)
        #expect(origin.row == RowPosition(number: 3, chain: end.chain) && end.time > 0)
        #expect(origin.instance == (try JournalReader(DataDirectory(at: path))).instance.words)
    }

    @Test("a second call leaves the cluster as it is, also once the history has more rows")
    func second() throws {
        var stored: ClusterOrigin?
        _ = try found(in: &stored)
        let first = stored
        let again = try found(in: &stored)
        #expect(
            again.line
                == "cluster house exists already, with the history of \(path): its log begins after "
                + "row 0; start the daemons now")
        try append([1])
        #expect(try found(in: &stored).line == again.line)
        #expect(stored == first)
    }

    @Test("a second call with rows in the history says that the cluster exists")
    func secondWithRows() throws {
        try append([1, 2, 3])
        var stored: ClusterOrigin?
        #expect(try found(in: &stored).line.hasPrefix("founded cluster house"))
        let again = try found(in: &stored)
        #expect(again.line.hasPrefix("cluster house exists already"), "\(again.line)")
    }

    @Test("a directory with another history is refused, with both histories and the remedy")
    func other() throws {
        var stored: ClusterOrigin?
        _ = try found("first", in: &stored)
        let first = try #require(stored)
        try SQLiteJournal.prepare(DataDirectory(at: home.path("second")))
        let error = #expect(throws: DaemonError.self) { try found("second", in: &stored) }
        let text = try #require(error?.description)
        let name = try #require(JournalInstance(words: first.instance)).description
        let own = try JournalReader(DataDirectory(at: home.path("second"))).instance.description
        #expect(text.contains("the history \(name), and \(home.path("second")) has \(own): "))
        #expect(text.contains(": remove the directory, and start the daemon"), "\(text)")
        #expect(stored == first && error?.exitCode == 78)
    }

    @Test("no node can take a history with rows from the log alone: the remedy is a backup")
    func otherWithRows() throws {
        try append([1, 2])
        var stored: ClusterOrigin?
        _ = try found(in: &stored)
        try SQLiteJournal.prepare(DataDirectory(at: home.path("second")))
        let error = #expect(throws: DaemonError.self) { try found("second", in: &stored) }
        let text = try #require(error?.description)
        #expect(text.contains("`reactorctl backup --node`") && !text.contains("remove"), "\(text)")
        #expect(text.hasSuffix("begins after row 2"), "\(text)")
    }

    @Test("a node of an existing cluster gets no history of its own")
    func later() throws {
        var stored: ClusterOrigin?
        _ = try found("first", in: &stored)
        let line = try found("second", in: &stored).line
        #expect(line.hasPrefix("cluster house exists already; start the daemon"), "\(line)")
        #expect(!FileManager.default.fileExists(atPath: home.path("second")))
        try append([1])
        var other: ClusterOrigin?
        _ = try found(in: &other)
        let copied = try found("third", in: &other).line
        #expect(copied.contains("`reactorctl backup --node`"), "\(copied)")
    }

    /// Lets a daemon keep the history of a lock that a client holds, and kills it; returns the end.
    private func hold() async throws -> JournalPosition {
        let daemon = try await DaemonProcess.start(
            config: "data:\n  directory: \(path)\nreactors:\n  lock: { kind: lock }\n", in: home)
        let client = try #require(RawSocket.welcomed(at: daemon.socketPath))
        client.send(.open, id: 0, number: 1, Open(path: "/lock").wireBytes())
        #expect(client.frame()?.kind == .opened)
        client.send(.dispatch, id: 0, number: 1, (["acquire": [:]] as WireValue).wireBytes())
        #expect(client.frame()?.kind == .outcome)
        daemon.signal(SIGKILL)
        _ = await daemon.ended()
        #expect(try holder(in: "data") != .null)
        return try JournalReader(DataDirectory(at: path)).verifyRest()
    }

    /// The holder of the lock at the end of the history in the directory `name`.
    private func holder(in name: String) throws -> WireValue? {
        let history = try OfflineHistory(of: config(data: name), environment: [:], uid: 0)
        return try history.value(of: root).value["lock"]?["holder"]
    }

    @Test("a copy founds a cluster with a new epoch, in which former connections own nothing")
    func copy() async throws {
        let end = try await hold()
        _ = try JournalBackup(of: DataDirectory(at: path), into: home.path("copy"))
        var stored: ClusterOrigin?
        let founding = try found("copy", in: &stored)
        #expect(
            founding.line.contains(", in a new epoch, as the directory is a restored copy;"),
            "\(founding.line)")
        let origin = try #require(stored)
        #expect(origin.epoch != end.epoch && origin.epoch != 0)
        #expect(origin.row.number > end.number && origin.sequence >= end.sequence)
        let copied = try JournalReader(DataDirectory(at: home.path("copy"))).verifyRest()
        #expect(origin.row == RowPosition(number: copied.number, chain: copied.chain))
        #expect(try holder(in: "copy") == .null)
        #expect(try found("copy", in: &stored).line.contains("exists already, with the history"))
        #expect(stored == origin)
    }

    /// Marks the history as one from which a power cut may have taken rows after row `number`.
    private func markLostTail(after number: UInt64) throws {
        let directory = try DataDirectory(at: path)
        let journal = try JournalFile.writer(in: directory, durability: .strict)
        try journal.commit("testing") { db in
            try MetaTable(db, in: journal.file).setMark(
                JournalMark(
                    isOpen: false, durability: .relaxed, isLogStrict: false,
                    boot: BootID(high: 1, low: 2), cutBehind: number))
        }
        try journal.close()
    }

    @Test("a relaxed history that a power cut may have shortened founds one with a new epoch")
    func lostTail() async throws {
        let end = try await hold()
        try markLostTail(after: end.number)
        var stored: ClusterOrigin?
        let line = try found(in: &stored).line
        #expect(line.contains("may have lost its last rows in a power cut;"), "\(line)")
        #expect(stored?.epoch != end.epoch && stored?.epoch != 0)
    }

    @Test("a power cut after the founding takes nothing from a cluster without further rows")
    func lostTailOfFounded() async throws {
        let end = try await hold()
        var stored: ClusterOrigin?
        _ = try found(in: &stored)
        try markLostTail(after: end.number)
        let line = try found(in: &stored).line
        #expect(line.contains("exists already, with the history of"), "\(line)")
        #expect(try JournalReader(DataDirectory(at: path)).verifyRest().number == end.number)
    }

    @Test("a copy whose founding fails has its new epoch, and founds a cluster later")
    func interruptedCopy() async throws {
        _ = try await hold()
        _ = try JournalBackup(of: DataDirectory(at: path), into: home.path("copy"))
        #expect(throws: DaemonError.self) {
            try ClusterFounding(
                of: config(data: "copy"), with: root, environment: [:], uid: 0,
                Logger(label: "tests"), existing: { _ in nil },
                found: { (_, _) throws(DaemonError) in throw DaemonError.engine("no etcd") })
        }
        let end = try JournalReader(DataDirectory(at: home.path("copy"))).verifyRest()
        var stored: ClusterOrigin?
        #expect(try found("copy", in: &stored).line.contains("after row \(end.number); start"))
        #expect(end.epoch != 0 && stored?.epoch == end.epoch)
    }

    @Test("a copy is refused where the cluster exists, and is left as it is")
    func copyOfExisting() async throws {
        let end = try await hold()
        var stored: ClusterOrigin?
        _ = try found(in: &stored)
        let first = stored
        _ = try JournalBackup(of: DataDirectory(at: path), into: home.path("copy"))
        let error = #expect(throws: DaemonError.self) { try found("copy", in: &stored) }
        let text = try #require(error?.description)
        let copy = home.path("copy")
        #expect(text.contains("house exists already, and \(copy) is a restored copy: "))
        #expect(text.contains("begins after row \(end.number)"), "\(text)")
        #expect(stored == first && error?.exitCode == 78)
        let copied = try JournalReader(DataDirectory(at: home.path("copy"))).verifyRest()
        #expect(copied.epoch == 0)
    }

    @Test("a copy that the program's reactors cannot read founds nothing")
    func unreadableCopy() async throws {
        _ = try await hold()
        _ = try JournalBackup(of: DataDirectory(at: path), into: home.path("copy"))
        #expect(throws: DaemonError.self) {
            try ClusterFounding(
                of: config(data: "copy"), with: ReactorGroup([("lock", Counter())]),
                environment: [:], uid: 0, Logger(label: "tests"), existing: { _ in nil },
                found: { (_, _) throws(DaemonError) in
                    Issue.record("a cluster is founded")
                    throw DaemonError.cluster("founded")
                })
        }
        let copied = try JournalReader(DataDirectory(at: home.path("copy"))).verifyRest()
        #expect(copied.epoch == 0)
    }

    @Test("a directory with rows of a cluster's log is refused: its place is in that log")
    func member() throws {
        try append([1], log: [5, 6, 7])
        let text = try #require(refusal(config()))
        #expect(text.contains("has rows of a cluster's log already: start its daemon"), "\(text)")
    }

    @Test("a configuration without `cluster:` or `data:`, and a used directory, are refused")
    func unusable() throws {
        #expect(refusal(DaemonConfig())?.contains("has no `cluster:`") == true)
        #expect(refusal(config(data: nil))?.contains("has no `data:`") == true)
        let directory = try DataDirectory(at: path)
        var stored: ClusterOrigin?
        let error = #expect(throws: DaemonError.self) { try found(in: &stored) }
        #expect(error?.exitCode == 69 && stored == nil, "\(String(describing: error))")
        withExtendedLifetime(directory) {}
    }

    @Test("what the engine reports ends the command")
    func silent() throws {
        let error = #expect(throws: DaemonError.self) {
            try ClusterFounding(
                of: config(), with: root, environment: [:], uid: 0, Logger(label: "tests"),
                existing: { _ in nil },
                found: { (_, _) throws(DaemonError) in
                    throw DaemonError.cluster("etcd does not answer")
                })
        }
        #expect(error?.description == "etcd does not answer")
    }
}
