import Foundation
import ReactorClient
import ReactorCore
import ReactorJournal
import ReactorWire
import StockReactors
import TestPrograms
import Testing

/// A real daemon whose history lost its end while the daemon was stopped.
@Suite("A history without its tail", .timeLimit(.minutes(10)))
struct LostTailTests {
    private typealias Counter = StockReactors.Counter

    private let home = TestDirectory()
    private var data: String { home.path("data") }
    private var config: String { "data:\n  directory: \(data)\n\(DaemonProcess.example)" }

    private func start() async throws -> DaemonProcess {
        try await DaemonProcess.start(config: config, in: home)
    }

    /// A client that outlives the daemon, and reconnects quickly.
    private func connect(to daemon: DaemonProcess) async throws -> Client {
        var options = ClientOptions(program: "tests")
        options.keepsTrying = true
        options.pauseMin = 1_000_000
        options.pauseMax = 20_000_000
        return try await Client.connect(to: daemon.socketPath, options: options)
    }

    /// The line of `reactorctl stats` for a counter.
    private func count(_ name: String, _ daemon: DaemonProcess) async throws -> String? {
        let run = try await Reactorctl(daemon: daemon)("stats")
        return run.output.split(separator: "\n").first { $0.contains(name) }.map { String($0) }
    }

    @Test(
        "C90: after a restore of an older copy, a client with newer revisions contradicts it")
    func olderCopy() async throws {
        let first = try await start()
        let client = try await connect(to: first)
        let visits = try await client.mirror(Counter.self, at: "/visits")
        for _ in 1...3 { #expect(await visits.dispatch(.increment(by: 1)).revision != nil) }
        let epoch = client.welcome.epoch
        #expect(await first.stop() == .exited(0))
        try FileManager.default.copyItem(atPath: data, toPath: home.path("older"))

        let second = try await start()
        for _ in 1...7 { #expect(await visits.dispatch(.increment(by: 1)).revision != nil) }
        #expect(visits.count == 10)
        await second.kill9()
        try FileManager.default.removeItem(atPath: data)
        try FileManager.default.moveItem(atPath: home.path("older"), toPath: data)

        let third = try await start()
        #expect(await holds { visits.count == 3 }, "\(third.log)")
        #expect(await holds { third.log.contains("lost its tail") }, "\(third.log)")
        #expect(third.log.contains("critical"))
        #expect(try await count("historyContradicted", third)?.contains("1") ?? false)
        #expect(await visits.dispatch(.increment(by: 1)).revision?.epoch != epoch)
        client.close()
        #expect(await third.stop() == .exited(0), "\(third.log)")

        // The epoch is kept, and no client contradicts it.
        let fourth = try await start()
        let again = try await connect(to: fourth)
        let mirror = try await again.mirror(Counter.self, at: "/visits")
        #expect(mirror.count == 4 && again.welcome.epoch != epoch)
        again.close()
        #expect(await fourth.stop() == .exited(0))
        // The log file contains all four runs.
        #expect(fourth.log.split(separator: "\n").count { $0.contains("lost its tail") } == 1)
    }

    @Test(
        "J55: a log with a zeroed commit refuses the start, and the doctor and --check name it"
    )
    func zeroed() async throws {
        let first = try await start()
        let client = try await connect(to: first)
        let visits = try await client.mirror(Counter.self, at: "/visits")
        let log = data + "/journal.sqlite-wal"
        for _ in 1...3 { #expect(await visits.dispatch(.increment(by: 1)).revision != nil) }
        let end = try extent(of: log)
        for _ in 1...5 { #expect(await visits.dispatch(.increment(by: 1)).revision != nil) }
        client.close()
        await first.kill9()
        try #require(try extent(of: log) > end)
        let file = try FileHandle(forWritingTo: URL(filePath: log))
        let byteCount = try file.seekToEnd()
        try file.seek(toOffset: UInt64(end))
        try file.write(contentsOf: Data(count: Int(byteCount) - end))
        try file.close()

        let run = try await DaemonProcess.run(config: config, in: home)
        #expect(run.ending == .exited(78) && run.log.contains("lost its tail"), "\(run)")
        let check = try await DaemonProcess.run(config: config, arguments: ["--check"], in: home)
        #expect(check.ending == .exited(78) && check.log.contains("lost its tail"), "\(check)")
        let doctor = try ChildProcess(
            Built.product("reactord"), ["doctor", data, "--salvage", home.path("saved")],
            in: home, name: "doctor")
        #expect(await doctor.ended() == .exited(78))
        #expect(doctor.output.contains("lost its tail"), "\(doctor.output)")
        // The remaining history can be continued, under another epoch.
        let saved = try await DaemonProcess.start(
            config: config.replacing(data, with: home.path("saved")), in: home)
        #expect(try await Reactorctl(daemon: saved)("get", "/visits/count").output == "3\n")
        #expect(await saved.stop() == .exited(0))
    }

    /// The end of the last frame in a log that is not zeros.
    private func extent(of log: String) throws -> Int {
        let bytes = [UInt8](try Data(contentsOf: URL(filePath: log)))
        let frame = 4_096 + 24
        var end = 32
        while end + frame <= bytes.count, bytes[end..<end + 24].contains(where: { $0 != 0 }) {
            end += frame
        }
        return end
    }
}
