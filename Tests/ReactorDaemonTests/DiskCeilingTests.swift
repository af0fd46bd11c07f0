import Foundation
import Glibc
import ReactorClient
import ReactorCore
import ReactorWire
import StockReactors
import TestPrograms
import Testing

@testable import ReactorDaemon
@testable import ReactorJournal

/// Drives ``DiskCeiling``, alone and in a real daemon.
@Suite("The maximum size of the data directory", .timeLimit(.minutes(10)))
struct DiskCeilingTests {
    private let home = TestDirectory()
    private static let mebibyte = 1 << 20

    @Test("space is scarce from 90 %, full at 100 % until it is below 95 %, and normal below 90 %")
    func levels() {
        var ceiling = DiskCeiling(byteCountMax: 1_000)
        #expect(ceiling.measure(899, isBusy: false) == nil)
        #expect(ceiling.measure(900, isBusy: false) == .scarce)
        #expect(ceiling.measure(999, isBusy: false) == nil)
        #expect(ceiling.measure(1_000, isBusy: false) == .full)
        #expect(ceiling.measure(950, isBusy: false) == nil)
        #expect(ceiling.measure(949, isBusy: false) == .scarce)
        #expect(ceiling.measure(899, isBusy: false) == .normal)
        #expect(ceiling.occupiedByteCount == 899)
    }

    @Test("while a snapshot is in progress, the directory does not become full")
    func busy() {
        var ceiling = DiskCeiling(byteCountMax: 1_000)
        #expect(ceiling.measure(2_000, isBusy: true) == .scarce)
        #expect(ceiling.measure(2_000, isBusy: false) == .full)
        #expect(ceiling.measure(2_000, isBusy: true) == nil)
        #expect(ceiling.measure(940, isBusy: true) == .scarce)
    }

    @Test("a directory without a maximum is never full; another maximum is compared at once")
    func maximum() {
        var ceiling = DiskCeiling(byteCountMax: nil)
        ceiling.count(appended: 5 * Self.mebibyte)
        #expect(!ceiling.isDue)
        #expect(ceiling.measure(1 << 40, isBusy: false) == nil)
        ceiling.setMax(10)
        #expect(ceiling.isDue)
        #expect(ceiling.measure(10, isBusy: false) == .full)
        #expect(!ceiling.isDue)
        ceiling.setMax(nil)
        #expect(ceiling.measure(10, isBusy: false) == .normal)
    }

    @Test("the directory is measured after each mebibyte of rows")
    func rate() {
        var ceiling = DiskCeiling(byteCountMax: 1 << 30)
        ceiling.count(appended: Self.mebibyte - 1)
        #expect(!ceiling.isDue)
        ceiling.count(appended: 1)
        #expect(ceiling.isDue)
        _ = ceiling.measure(5, isBusy: false)
        #expect(!ceiling.isDue)
    }

    @Test(
        "a snapshot frees space if it replaces many rows, or if states have shrunk since the last")
    func relief() {
        var ceiling = DiskCeiling(byteCountMax: 64 * Self.mebibyte)
        func isRelief(fresh: Int, shrunk: Int) -> Bool {
            ceiling.isRelief(freshByteCount: fresh, shrunkByteCount: shrunk)
        }
        let (little, much) = (Self.mebibyte - 1, Self.mebibyte)
        #expect(!isRelief(fresh: much, shrunk: much))
        _ = ceiling.measure(60 * Self.mebibyte, isBusy: false)
        #expect(!isRelief(fresh: little, shrunk: little))
        #expect(isRelief(fresh: much, shrunk: 0))
        #expect(isRelief(fresh: 0, shrunk: much))
        #expect(!isRelief(fresh: 0, shrunk: much))
        #expect(isRelief(fresh: 0, shrunk: 2 * much))
    }

    @Test("the occupied bytes are those of blocks, without the reserve")
    func blocks() throws {
        let directory = try DataDirectory(at: home.path("data"))
        let space = DiskSpace(of: directory)
        let before = try #require(space.occupiedByteCount)
        #expect(space.keepReserve(byteCount: 1 << 20))
        #expect(space.occupiedByteCount == before)
        // A sparse file has a size, and occupies nothing.
        let path = directory.path("sparse")
        #expect(FileManager.default.createFile(atPath: path, contents: nil))
        try FileHandle(forWritingTo: URL(filePath: path)).truncate(atOffset: 1 << 30)
        #expect(try #require(space.occupiedByteCount) < before + 1 << 20)
        try Data(repeating: 7, count: 1 << 20).write(to: URL(filePath: directory.path("full")))
        #expect(try #require(space.occupiedByteCount) >= before + 1 << 20)
    }

    // Rows are compressed one by one, so all may contain the same noise.
    private static let noise = (0..<200_000).map { _ in UInt8.random(in: 0...255) }

    private static func isFull(_ outcome: DispatchOutcome<Map.Reply>) -> Bool {
        guard case .rejected(let rejection) = outcome else { return false }
        return rejection.code == FaultCode.diskFull.rawValue
    }

    private func config(bytesMax: String) -> String {
        """
        data:
          directory: \(home.path("data"))
          bytesMax: \(bytesMax)
        reactors:
          settings: { kind: map }
        """
    }

    /// Bytes of disk that each file of the data directory occupies, without the reserve.
    private var sizes: [String: Int] {
        let files = (try? FileManager.default.contentsOfDirectory(atPath: home.path("data"))) ?? []
        var sizes: [String: Int] = [:]
        for name in files where name != "reserve" {
            var status = stat()
            guard unsafe stat(home.path("data/" + name), &status) == 0 else { continue }
            sizes[name] = Int(status.st_blocks) * 512
        }
        return sizes
    }

    private var occupiedByteCount: Int { sizes.values.reduce(0, +) }

    @Test("J121: at data.bytesMax, only shrinking actions are accepted, and the daemon recovers")
    func daemon() async throws {
        let name = "reactord-ceiling-\(UUID().uuidString)"
        let listener = try #require(NoticeListener(abstract: name))
        let daemon = try await DaemonProcess.start(
            config: config(bytesMax: "64MiB"),
            environment: ["NOTIFY_SOCKET": "@" + name], in: home)
        let client = try await Client.connect(to: daemon.socketPath)
        let settings = try await client.mirror(Map.self, at: "/settings")
        var count = 0
        var outcome = await settings.dispatch(.set(key: "k", value: 1))
        while !Self.isFull(outcome), count < 2_000 {
            outcome = await settings.dispatch(
                .set(key: WireKey("k\(count)"), value: .bytes(Self.noise)))
            count += 1
        }
        guard case .rejected(let rejection) = outcome else {
            Issue.record("\(count): \(outcome)\n\(daemon.log)")
            return
        }
        #expect((50..<1_000).contains(count), "\(daemon.log)")
        #expect(rejection.message.contains("data.bytesMax, 67108864 bytes"))
        #expect(rejection.message.contains("raise data.bytesMax and reload"))
        let reactorctl = Reactorctl(daemon: daemon)
        let stats = try await reactorctl("stats").output
        #expect(stats.contains(#""shrinkOnly":1"#) && stats.contains(#""diskBytesMax":67108864"#))
        let metrics = try await reactorctl("metrics").output
        #expect(metrics.contains("reactord_disk_bytes_max 67108864\n"))
        #expect(metrics.contains("reactord_read_only 1\n"))
        outcome = await settings.dispatch(.remove(key: "k0"))
        #expect(outcome.revision != nil, "\(outcome)\n\(daemon.log)")
        outcome = await settings.dispatch(.clear)
        #expect(outcome.revision != nil, "\(outcome)\n\(daemon.log)")
        repeat {
            outcome = await settings.dispatch(.set(key: "again", value: .bytes(Self.noise)))
        } while Self.isFull(outcome)
        #expect(outcome.revision != nil, "\(outcome)\n\(daemon.log)")
        #expect(await holds { daemon.log.contains("has room again") }, "\(daemon.log)")
        var notices: [String] = []
        while notices.last?.contains("accepting all actions") != true, notices.count < 100 {
            let notice = listener.receive()
            if notice.isEmpty { break }
            if notice.contains("STATUS=") { notices.append(notice) }
        }
        #expect(notices.contains { $0.contains("data.bytesMax is reached") }, "\(notices)")
        client.close()
        #expect(await daemon.stop() == .exited(0), "\(daemon.log)")
    }

    @Test(
        "J121: a daemon whose states stay small stays below data.bytesMax, and accepts everything")
    func churn() async throws {
        let daemon = try await DaemonProcess.start(config: config(bytesMax: "64MiB"), in: home)
        let client = try await Client.connect(to: daemon.socketPath)
        let settings = try await client.mirror(Map.self, at: "/settings")
        var most = 0
        for number in 0..<500 {
            let outcome = await settings.dispatch(
                .set(key: WireKey("k\(number % 8)"), value: .bytes(Self.noise)))
            guard outcome.revision != nil else {
                Issue.record("\(number): \(outcome)\n\(sizes)\n\(daemon.log)")
                return
            }
            most = max(most, occupiedByteCount)
        }
        #expect(most <= 64 << 20, "\(most)\n\(daemon.log)")
        #expect(await holds { daemon.log.contains("near data.bytesMax") }, "\(daemon.log)")
        client.close()
        #expect(await daemon.stop() == .exited(0), "\(daemon.log)")
    }

    @Test("J121: a reload with a higher data.bytesMax makes the daemon accept everything again")
    func reload() async throws {
        let daemon = try await DaemonProcess.start(config: config(bytesMax: "64MiB"), in: home)
        let client = try await Client.connect(to: daemon.socketPath)
        let settings = try await client.mirror(Map.self, at: "/settings")
        var (count, isFull) = (0, false)
        while !isFull, count < 2_000 {
            isFull = Self.isFull(
                await settings.dispatch(
                    .set(key: WireKey("k\(count)"), value: .bytes(Self.noise))))
            count += 1
        }
        #expect(isFull, "\(daemon.log)")
        _ = try home.write(config(bytesMax: "1GiB"), to: "reactord.yaml")
        let reload = try await Reactorctl(daemon: daemon)("reload")
        #expect(reload.code == 0 && reload.output.contains("data.bytesMax"), "\(reload)")
        var outcome = await settings.dispatch(.set(key: "more", value: .bytes(Self.noise)))
        while Self.isFull(outcome) {
            outcome = await settings.dispatch(.set(key: "more", value: .bytes(Self.noise)))
        }
        #expect(outcome.revision != nil, "\(outcome)\n\(daemon.log)")
        client.close()
        #expect(await daemon.stop() == .exited(0), "\(daemon.log)")
    }
}
