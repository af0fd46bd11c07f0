import ReactorClient
import ReactorCore
import ReactorJournal
import ReactorWire
import StockReactors
import TestPrograms
import Testing

/// When a real daemon takes snapshots, and what it removes behind them.
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

    /// The row behind which history is kept.
    private func firstKept() throws -> UInt64 {
        try JournalReader(DataDirectory(at: data)).position.number
    }

    private func count(_ line: String, _ daemon: DaemonProcess) -> Int {
        daemon.log.split(separator: "\n").count { $0.contains(line) }
    }

    @Test("snapshots are taken by size, and what they stand for is removed")
    func bySize() async throws {
        let daemon = try await start("snapshotBytes: 1MiB\n  keepDuration: 0s")
        for round in 1...3 {
            try await write(15, to: daemon)
            #expect(
                await daemon.comes { count("took a snapshot", daemon) >= round }, "\(daemon.log)")
        }
        #expect(
            await daemon.comes { count("removed older history", daemon) > 0 }, "\(daemon.log)")
        #expect(await daemon.stop() == .exited(0), "\(daemon.log)")
        #expect(try firstKept() > 0)
    }

    @Test("what is to be kept is kept, though snapshots stand for it")
    func retention() async throws {
        let daemon = try await start("snapshotBytes: 1MiB\n  keepDuration: 1h")
        for round in 1...3 {
            try await write(15, to: daemon)
            #expect(
                await daemon.comes { count("took a snapshot", daemon) >= round }, "\(daemon.log)")
        }
        #expect(await daemon.stop() == .exited(0), "\(daemon.log)")
        #expect(count("removed older history", daemon) == 0)
        #expect(try firstKept() == 0)
    }

    @Test("a daemon that always ends before a snapshot is due does not keep everything for ever")
    func shortLives() async throws {
        for _ in 0..<3 {
            let daemon = try await start("keepDuration: 0s")
            try await write(3, to: daemon)
            #expect(await daemon.stop() == .exited(0), "\(daemon.log)")
            #expect(count("took a snapshot", daemon) == 0)
        }
        let last = try await start("keepDuration: 0s")
        #expect(await last.comes { count("removed older history", last) > 0 }, "\(last.log)")
        #expect(await last.stop() == .exited(0), "\(last.log)")
        #expect(try firstKept() > 0)
    }
}
