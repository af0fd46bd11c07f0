import Logging
import ReactorBytes
import ReactorCore
import ReactorJournal
import ReactorLoop
import ReactorServer
import ReactorThreads
import ReactorWire
import StockReactors
import TestPrograms
import Testing

@testable import ReactorDaemon

/// The start of a daemon from a history, and its memory use.
@Suite("A daemon's history at the start", .timeLimit(.minutes(10)))
struct HistoryTests {
    private static let rowCount: UInt64 = 100_000
    /// Bytes of each row, in memory.
    private static let rowBytes = 1_024

    private let home = TestDirectory()

    private var config: DataConfig {
        var config = DataConfig()
        config.directory = home.path("data")
        return config
    }

    private func start(_ environment: [String: String] = [:]) async throws -> DaemonProcess {
        // Without the ring of recent deltas, which would hide a leak in the peak memory.
        try await DaemonProcess.start(
            config: "data:\n  directory: \(home.path("data"))\n"
                + "limits:\n  ringBytesMax: 0\nreactors:\n  visits: { kind: counter }\n",
            environment: environment, in: home)
    }

    @Test("J71: 100,000 rows are replayed in little memory with progress reports, before READY")
    func long() async throws {
        let first = try await start()
        let run = try await Reactorctl(daemon: first)("dispatch", "/visits", #"{"increment":{}}"#)
        #expect(run.code == 0)
        #expect(await first.stop() == .exited(0))
        let short = try await look()
        let count = try fill()
        let long = try await look()
        #expect(long.count == "\(count)\n")
        let lines = long.log.split(separator: "\n").filter {
            $0.contains("replaying") || $0.contains("ready")
        }
        #expect(lines.suffix(3).map { $0.contains("replaying") } == [true, true, false])
        // The last row is a reported one, so all rows are replayed before READY.
        #expect(
            long.notices == [
                "WATCHDOG=1\nEXTEND_TIMEOUT_USEC=60000000\nSTATUS=replaying, at row 50000",
                "WATCHDOG=1\nEXTEND_TIMEOUT_USEC=60000000\nSTATUS=replaying, at row 100000",
                "READY=1",
            ])
        let all = Int(Self.rowCount) * Self.rowBytes
        #expect(long.peak - short.peak < all / 4, "\(short.peak) and \(long.peak) of \(all)")
    }

    @Test("a signal during the replay ends the start before all rows are replayed")
    func interrupted() async throws {
        let first = try await start()
        let run = try await Reactorctl(daemon: first)("dispatch", "/visits", #"{"increment":{}}"#)
        #expect(run.code == 0)
        #expect(await first.stop() == .exited(0))
        _ = try fill(to: 1_000)
        // The signal is there at the third check, after the first rows.
        var checks = 0
        let history = try History(
            config, environment: [:], uid: 0, Logger(label: "tests"),
            interruption: {
                checks += 1
                return checks < 3 ? nil : .terminate
            })
        let error = #expect(throws: DaemonError.self) {
            let tree = Tree(ReactorGroup([("visits", Counter())]), epoch: 1)
            _ = try history.recover(Recovery(of: tree, limits: ServerLimits()), epoch: 1)
        }
        #expect(error?.description == "stopped by signal 15 before clients were served")
        #expect(checks == 3)
    }

    @Test("a signal that comes while a snapshot is read ends the start before it is restored")
    func interruptedAtSnapshot() async throws {
        let first = try await start()
        let run = try await Reactorctl(daemon: first)("dispatch", "/visits", #"{"increment":{}}"#)
        #expect(run.code == 0)
        #expect(await first.stop() == .exited(0))
        let history = try History(
            config, environment: [:], uid: 0, Logger(label: "tests"), interruption: { .terminate })
        // A tree without the reactors of the history refuses the parts of its snapshot.
        let recovery = Recovery(of: Tree(Counter(), epoch: 1), limits: ServerLimits())
        let error = #expect(throws: DaemonError.self) { try history.recover(recovery, epoch: 1) }
        guard case .interrupted? = error else {
            Issue.record("the start went on: \(String(describing: error))")
            return
        }
    }

    /// Starts a daemon and kills it; returns its peak memory at READY, its notifications, its
    /// log, and the counter.
    private func look() async throws -> (
        peak: Int, notices: [String], log: String, count: String
    ) {
        let name = "reactor-manager-\(UInt64.random(in: .min ... .max))"
        let manager = try #require(NoticeListener(abstract: name))
        let before = Self.readyCount(home.read("reactord.err"))
        let daemon = try await start(["NOTIFY_SOCKET": "@" + name])
        var notices: [String] = []
        while notices.last != "READY=1" {
            let notice = manager.receive()
            try #require(!notice.isEmpty && notices.count < 10, "\(notices)\n\(daemon.log)")
            notices.append(notice)
        }
        let peak = try #require(daemon.peakResidentBytes)
        let count = try await Reactorctl(daemon: daemon)("get", "/visits/count").output
        // The daemon's log thread may write the line after the answer.
        #expect(await holds { Self.readyCount(daemon.log) > before })
        let log = daemon.log
        await daemon.kill9()
        return (peak, notices, log, count)
    }

    private static func readyCount(_ log: String) -> Int {
        log.split(separator: "\n").count { $0.contains("ready") }
    }

    /// Appends rows like the last changing one, each with a large action, up to row `rowCount`;
    /// returns the counter after them.
    private func fill(to rowCount: UInt64 = rowCount) throws -> UInt64 {
        let directory = try DataDirectory(at: home.path("data"))
        try SQLiteJournal.prepare(directory)
        let reader = try JournalReader(directory)
        var model: JournalRow?
        while let row = try reader.next() { if row.sequence != row.after { model = row } }
        let rows = try FilledRows(like: #require(model), byteCount: Self.rowBytes)
        let bell = Bell()
        let mailbox = Mailbox<@Sendable () -> Void> { bell.ring() }
        var position = reader.position
        let journal = try SQLiteJournal(
            directory, durability: .strict, after: position, deliver: { mailbox.post($0) })
        var appended = position.number
        journal.onAppended = { appended = $0 }
        while position.number < rowCount {
            // One commit takes all waiting rows, and must fit into SQLite's memory.
            let end = min(position.number + 1_000, rowCount)
            while position.number < end {
                position.number += 1
                journal.append(rows.batch(position.number, behind: position.sequence))
                position.sequence += 1
            }
            while appended < end {
                bell.wait()
                for job in mailbox.drain() { job() }
            }
        }
        journal.close()
        return position.sequence
    }
}

/// Rows like a daemon's row, with other sequences, and with large facts.
private struct FilledRows {
    let epoch: UInt64
    /// The header and the body of the row's only delta.
    let header: FrameHeader
    let body: [UInt8]
    let facts: [UInt8]

    init(like row: JournalRow, byteCount: Int) throws {
        epoch = row.epoch
        let first = try FrameHeader.decode(
            row.deltas.span, at: 0, frameBytesMax: row.deltas.count)
        header = try #require(first)
        body = Array(row.deltas[FrameHeader.byteCount...])
        try #require(body.count == Int(header.length), "a row of one transaction")
        var source: ActionSource?
        for fact in try TurnFact.list(row.facts.span) {
            switch fact {
            case .run(let by, _, _, _, _, _), .action(let by, _, _, _): source = by
            default: break
            }
        }
        var stranger = try #require(source)
        // Not in a session: a session's actions would be kept in memory.
        stranger.client = 0
        let frame = [UInt8](repeating: 0, count: byteCount)
        facts = TurnFact.action(by: stranger, ordinal: 1, nodes: [], frame: frame).wireBytes()
    }

    func batch(_ number: UInt64, behind sequence: UInt64) -> Batch {
        var writer = WireWriter()
        var header = header
        header.number = sequence + 1
        writer.header(header)
        let bytes = writer.bytes + body
        return Batch(
            turn: number, epoch: epoch, after: sequence, sequence: sequence + 1,
            deltas: ByteSlice(bytes), facts: facts)
    }
}
