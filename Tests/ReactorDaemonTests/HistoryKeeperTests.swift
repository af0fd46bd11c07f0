import Foundation
import ReactorClient
import ReactorCore
import ReactorJournal
import ReactorWire
import StockReactors
import TestPrograms
import Testing

/// When a real daemon takes snapshots, and which history it removes.
@Suite("HistoryKeeper", .timeLimit(.minutes(10)))
struct HistoryKeeperTests {
    private let directory = TestDirectory()
    private var data: String { directory.path("data") }

    private func start(_ settings: String) async throws -> DaemonProcess {
        try await DaemonProcess.start(
            config: "data:\n  directory: \(data)\n  \(settings)\n\(DaemonProcess.example)")
    }

    /// Writes `count` values of 100 KB.
    private func write(_ count: Int, to daemon: DaemonProcess) async throws {
        let client = try await Client.connect(to: daemon.socketPath)
        let value = WireValue.text(String(repeating: "v", count: 100_000))
        for index in 0..<count {
            let action = Map.Action.set(key: WireKey("k\(index % 3)"), value: value)
            #expect(try await client.dispatch("/settings", action).revision != nil)
        }
        client.close()
    }

    /// The row after which history is kept.
    private func firstKept() throws -> UInt64 {
        try JournalReader(DataDirectory(at: data)).position.number
    }

    private func count(_ line: String, _ daemon: DaemonProcess) -> Int {
        daemon.log.split(separator: "\n").count { $0.contains(line) }
    }

    @Test("snapshots are taken by size, and the history before them is removed")
    func bySize() async throws {
        let daemon = try await start("snapshotBytes: 1MiB\n  keepDuration: 0s")
        for round in 1...3 {
            try await write(15, to: daemon)
            #expect(
                await holds { count("took a snapshot", daemon) >= round }, "\(daemon.log)")
        }
        #expect(
            await holds { count("removed older history", daemon) > 0 }, "\(daemon.log)")
        #expect(await daemon.stop() == .exited(0), "\(daemon.log)")
        #expect(try firstKept() > 0)
    }

    @Test("history within the retention is kept despite snapshots")
    func retention() async throws {
        let daemon = try await start("snapshotBytes: 1MiB\n  keepDuration: 1h")
        for round in 1...3 {
            try await write(15, to: daemon)
            #expect(
                await holds { count("took a snapshot", daemon) >= round }, "\(daemon.log)")
        }
        #expect(await daemon.stop() == .exited(0), "\(daemon.log)")
        #expect(count("removed older history", daemon) == 0)
        #expect(try firstKept() == 0)
    }

    @Test(
        "a writer that never pauses does not outrun retention: two snapshots and few rows stay")
    func pace() async throws {
        let daemon = try await start("snapshotBytes: 1MiB\n  keepBytes: 4MiB")
        let client = try await Client.connect(to: daemon.socketPath)
        // Rows are compressed one by one, so all may contain the same noise.
        let noise = (0..<200_000).map { _ in UInt8.random(in: 0...255) }
        var most = (snapshots: 0, bytes: 0)
        for round in 0..<40 {
            let outcomes = await withTaskGroup(of: Bool.self) { group in
                for index in 0..<20 {
                    group.addTask {
                        let action = Map.Action.set(
                            key: WireKey("k\(index % 3)"), value: .bytes(noise))
                        return (try? await client.dispatch("/settings", action).revision) != nil
                    }
                }
                return await group.reduce(true) { $0 && $1 }
            }
            #expect(outcomes, "round \(round)")
            let found = try use()
            most = (max(most.snapshots, found.snapshots), max(most.bytes, found.bytes))
        }
        // Two snapshots are kept, one is about to be removed, and one is being written; 160 MB
        // were written, of which the file keeps some pages for reuse.
        #expect(most.snapshots <= 4, "\(daemon.log)")
        #expect(most.bytes < 110 << 20, "\(most.bytes)")
        client.close()
        // An end between a snapshot and the removal of older ones leaves these to the next start.
        #expect(await holds { (try? use())?.snapshots == 2 }, "\(daemon.log)")
        #expect(await daemon.stop() == .exited(0), "\(daemon.log)")
        #expect(try use().snapshots == 2)
    }

    /// The number of snapshots, and the size of the journal's file.
    private func use() throws -> (snapshots: Int, bytes: Int) {
        let names = try FileManager.default.contentsOfDirectory(atPath: data)
        let file = try FileHandle(forReadingFrom: URL(filePath: data + "/journal.sqlite"))
        return (names.count { $0.hasPrefix("snapshot-") }, Int(try file.seekToEnd()))
    }

    @Test("a daemon that always ends before a snapshot is due still removes old history")
    func shortLives() async throws {
        for _ in 0..<3 {
            let daemon = try await start("keepDuration: 0s")
            try await write(3, to: daemon)
            #expect(await daemon.stop() == .exited(0), "\(daemon.log)")
            #expect(count("took a snapshot", daemon) == 0)
        }
        let last = try await start("keepDuration: 0s")
        #expect(await holds { count("removed older history", last) > 0 }, "\(last.log)")
        #expect(await last.stop() == .exited(0), "\(last.log)")
        #expect(try firstKept() > 0)
    }
}
