import Foundation
import ReactorBytes
import ReactorCluster
import ReactorLoop
import ReactorThreads
import TestPrograms
import Testing

@testable import ReactorDaemon
@testable import ReactorJournal

/// A node that takes its history from another one. Drives ``ClusterJoining``, ``CopySender`` and
/// ``CopyReceiver`` over real sockets; a closure stands for etcd.
@Suite("Joining a cluster with a copy of its history")
struct ClusterJoiningTests {
    private let rig: PeerRig
    private let home = TestDirectory()

    init() throws { rig = try PeerRig() }

    private func config(_ node: String, _ name: String) -> DaemonConfig {
        var config = DaemonConfig()
        config.cluster = rig.config(node, lostAfter: .milliseconds(200))
        var data = DataConfig()
        data.directory = home.path(name)
        config.data = data
        return config
    }

    /// A data directory with some rows.
    private func source(_ name: String, rows count: UInt64) throws -> DataDirectory {
        let directory = try DataDirectory(at: home.path(name))
        try SQLiteJournal.prepare(directory)
        let end = try JournalReader(directory).verifyRest()
        let journal = try SQLiteJournal(
            directory, durability: .strict, after: end, deliver: { job in job() })
        let stored = Bell()
        journal.onAppended = { if $0 == count { stored.ring() } }
        for turn in 1...count {
            // It cannot be packed.
            var random = SystemRandomNumberGenerator()
            let facts = (0..<50_000).map { _ in UInt8.random(in: 0...255, using: &random) }
            journal.append(
                Batch(turn: turn, epoch: 7, after: turn - 1, sequence: turn, facts: facts))
        }
        stored.wait()
        journal.close()
        return directory
    }

    private func origin(of directory: DataDirectory) throws -> ClusterOrigin {
        ClusterOrigin(
            instance: try JournalReader(directory).instance.words, epoch: 7, sequence: 0,
            row: RowPosition(number: 0, chain: 1), time: 0)
    }

    /// Joins on another thread while the loop of the senders turns.
    private func join(
        _ config: DaemonConfig, from name: String? = nil, _ origin: ClusterOrigin?,
        patience: Duration = .zero, onObstacles: @escaping @Sendable (String) -> Void = { _ in }
    ) throws -> Result<String, DaemonError> {
        let result = Guarded<Result<String, DaemonError>?>(nil)
        let thread = try WorkThread(name: "join") {
            let joined: Result<String, DaemonError>
            do throws(DaemonError) {
                joined = .success(
                    try ClusterJoining(
                        of: config, environment: [:], uid: 0, from: name, patience: patience,
                        onObstacles: onObstacles, existing: { _ in origin }
                    ).line)
            } catch {
                joined = .failure(error)
            }
            result.withLock { $0 = joined }
        }
        #expect(try rig.holds { result.withLock { $0 != nil } })
        thread.join()
        return try #require(result.withLock { $0 })
    }

    @Test("an empty directory gets the history of a node that has it, in parts")
    func empty() throws {
        let directory = try source("a", rows: 60)
        let peers = try rig.start("a")
        let sender = CopySender(of: directory, on: rig.loop.handle)
        peers.onCopy = { sender.send(over: $0) }
        peers.onBeat = { sender.beat() }
        let line = try join(config("b", "b"), origin(of: directory)).get()
        #expect(line == "copied the history of cluster house up to row 60 from node a")
        let copy = try JournalReader(DataDirectory(at: home.path("b")))
        #expect(try copy.verifyRest().number == 60)
        #expect(copy.instance == (try JournalReader(directory).instance))
        #expect(try directory.names().allSatisfy { !$0.hasPrefix("copy.") })
        // Again, now over a history of the cluster.
        #expect(throws: Never.self) {
            try join(config("b", "b"), from: "a", origin(of: directory)).get()
        }
    }

    @Test("a node that sends nothing is passed over, and the reasons of all are told")
    func obstacles() throws {
        let directory = try source("a", rows: 3)
        let first = try rig.start("a")
        first.onCopy = { $0.finish(with: .refused("not now")) }
        let target = config("b", "b")
        let refused = try join(target, origin(of: directory))
        guard case .failure(let error) = refused else {
            Issue.record("a copy came from nowhere")
            return
        }
        #expect("\(error)".hasPrefix("no node sends a copy: a: not now; c: "), "\(error)")
        #expect(error.exitCode == 69)
        let third = try rig.start("c")
        let sender = CopySender(of: directory, on: rig.loop.handle)
        third.onCopy = { sender.send(over: $0) }
        third.onBeat = { sender.beat() }
        let line = try join(target, origin(of: directory)).get()
        #expect(line.hasSuffix("up to row 3 from node c"))
    }

    @Test("a start that needs a copy reports why it waits, and asks again until it has the copy")
    func later() throws {
        let directory = try source("a", rows: 3)
        let peers = try rig.start("a")
        let sender = CopySender(of: directory, on: rig.loop.handle)
        var isFirst = true
        peers.onCopy = { connection in
            guard isFirst else { return sender.send(over: connection) }
            isFirst = false
            connection.finish(with: .refused("not now"))
        }
        peers.onBeat = { sender.beat() }
        let told = Guarded<[String]>([])
        let line = try join(
            config("b", "b"), origin(of: directory), patience: .seconds(300),
            onObstacles: { reasons in told.withLock { $0.append(reasons) } }
        ).get()
        #expect(line.hasSuffix("up to row 3 from node a"))
        let reasons = told.withLock { $0 }
        #expect(reasons.count == 1 && reasons.allSatisfy { $0.hasPrefix("a: not now; c: ") })
    }

    @Test("a directory with another history, and a configuration that cannot join, are refused")
    func refused() throws {
        let directory = try source("a", rows: 1)
        let origin = try origin(of: directory)
        _ = try source("b", rows: 1)
        func text(_ config: DaemonConfig, from name: String? = nil) throws -> String {
            guard case .failure(let error) = try join(config, from: name, origin) else {
                return "joined"
            }
            return "\(error)"
        }
        #expect(try text(config("b", "b")).contains("move the directory away"))
        #expect(try text(config("b", "new"), from: "b").contains("no other node b: a, c"))
        var alone = config("b", "new")
        alone.cluster = nil
        #expect(try text(alone).contains("has no `cluster:`"))
        var memory = config("b", "new")
        memory.data = nil
        #expect(try text(memory).contains("has no `data:`"))
        guard case .failure(let absent) = try join(config("b", "new"), nil) else {
            Issue.record("a cluster that does not exist was joined")
            return
        }
        #expect("\(absent)".contains("does not exist yet") && absent.exitCode == 69)
    }

    @Test("a sender works on one copy at a time, and stops when the receiver goes")
    func one() throws {
        let directory = try source("a", rows: 40)
        let peers = try rig.start("a")
        let sender = CopySender(of: directory, on: rig.loop.handle)
        peers.onCopy = { sender.send(over: $0) }
        peers.onBeat = { sender.beat() }
        let asked = try (0..<2).map { _ in
            let peer = PlayedPeer(try PeerConnection(to: rig.path("a"), on: rig.loop))
            peer.connection.send(.copy(cluster: "house", node: 2))
            return peer
        }
        #expect(try rig.holds { asked.contains { !$0.others.isEmpty } })
        let busy = PeerMessage.refused("a copy is sent to another node: try again")
        #expect(try rig.holds { asked.contains { $0.others == [busy] } })
        #expect(sender.isBusy)
        // The receivers' ends are seen, and the copy is removed.
        for peer in asked { peer.connection.close() }
        #expect(try rig.holds { !sender.isBusy })
        #expect(try directory.names().allSatisfy { !$0.hasPrefix("copy.") })
        let line = try join(config("b", "b"), from: "a", origin(of: directory)).get()
        #expect(line.hasSuffix("row 40 from node a"))
    }
}
