import Foundation
import ReactorClient
import ReactorCore
import ReactorWire
import StockReactors
import TestPrograms
import Testing

@testable import ReactorDaemon
@testable import ReactorJournal

@Suite("The disk reserve", .timeLimit(.minutes(10)))
struct DiskReserveTests {
    private let home = TestDirectory()

    @Test("a reserve occupies its bytes, can be released once, and can be reserved again")
    func kept() throws {
        let directory = try DataDirectory(at: home.path("data"))
        var reserve = DiskReserve(in: directory, byteCount: 1 << 20)
        #expect(reserve.isKept && !reserve.isMissing)
        #expect(try directory.byteCount(of: "reserve") == 1 << 20)
        #expect(reserve.release() && !reserve.release())
        #expect(try directory.byteCount(of: "reserve") == nil)
        #expect(reserve.regain() && reserve.isKept)
        var none = DiskReserve(in: directory, byteCount: 0)
        #expect(!none.isKept && !none.isMissing && !none.release())
        #expect(try directory.byteCount(of: "reserve") == nil)
    }

    @Test("a snapshot is worthwhile once states are smaller, and each time they shrink further")
    func relief() throws {
        let directory = try DataDirectory(at: home.path("data"))
        var reserve = DiskReserve(in: directory, byteCount: 0)
        #expect(reserve.relief(shrunkByteCount: 0, freshByteCount: 0) == .none)
        #expect(reserve.relief(shrunkByteCount: 5, freshByteCount: 0) == .snapshot)
        #expect(reserve.relief(shrunkByteCount: 5, freshByteCount: 0) == .none)
        #expect(reserve.relief(shrunkByteCount: 9, freshByteCount: 0) == .snapshot)
        // No disk has this much room.
        let much = 1 << 50
        #expect(reserve.relief(shrunkByteCount: 10, freshByteCount: much) == .dropOlder)
        #expect(reserve.relief(shrunkByteCount: 10, freshByteCount: much) == .none)
        #expect(reserve.relief(shrunkByteCount: 11, freshByteCount: 0) == .snapshot)
    }

    /// Whether the test may mount a file system.
    static let mayMount: Bool = {
        let process = Process()
        process.executableURL = URL(filePath: "/usr/bin/env")
        process.arguments = ["unshare", "-m", "sh", "-c", "mount -t tmpfs none /mnt"]
        process.standardError = FileHandle.nullDevice
        guard (try? process.run()) != nil else { return false }
        process.waitUntilExit()
        return process.terminationStatus == 0
    }()

    /// Starts a daemon whose data directory is a separate file system.
    private func start(megabytes: Int) async throws -> (process: ChildProcess, socket: String) {
        try FileManager.default.createDirectory(
            atPath: home.path("disk"), withIntermediateDirectories: true)
        let config = try home.write(
            "data:\n  directory: \(home.path("disk"))/data\n  keepDuration: 0s\n"
                + "  snapshotBytes: 2MiB\n  reserveBytes: 32MiB\n"
                + "reactors:\n  settings: { kind: map }\n", to: "config.yaml")
        let socket = home.path("s")
        let script = """
            mount -t tmpfs -o size=\(megabytes)m none "$1" || exit 99
            exec "$2" --config "$3" --socket "$4"
            """
        let process = try ChildProcess(
            "/usr/bin/env",
            [
                "unshare", "-m", "sh", "-c", script, "sh", home.path("disk"),
                Built.product("reactord"), config, socket,
            ], in: home, name: "daemon")
        _ = await holds { !process.isRunning || DaemonProcess.accepts(socket) }
        return (process, socket)
    }

    // Rows are compressed one by one, so all may contain the same noise.
    private static let noise = (0..<200_000).map { _ in UInt8.random(in: 0...255) }

    @Test(
        "J58: a daemon on a full disk reports it, accepts shrinking actions, and recovers",
        .enabled(if: mayMount))
    func ownVolume() async throws {
        let (process, socket) = try await start(megabytes: 160)
        var options = ClientOptions(program: "tests")
        options.keepsTrying = true
        options.pauseMin = 1_000_000
        options.pauseMax = 20_000_000
        let client = try await Client.connect(to: socket, options: options)
        let settings = try await client.mirror(Map.self, at: "/settings")
        func isFull(_ outcome: DispatchOutcome<Map.Reply>) -> Bool {
            if case .rejected(let rejection) = outcome {
                rejection.code == FaultCode.diskFull.rawValue
            } else {
                false
            }
        }
        var count = 0
        while count < 2_000 {
            let outcome = await settings.dispatch(
                .set(key: WireKey("k\(count)"), value: .bytes(Self.noise)))
            if isFull(outcome) { break }
            count += 1
        }
        #expect((50..<2_000).contains(count), "\(process.errors)")
        // Growing actions are refused until there is room; shrinking ones are accepted once the
        // daemon has released the reserve.
        var outcome = await settings.dispatch(.remove(key: "k0"))
        while isFull(outcome) { outcome = await settings.dispatch(.remove(key: "k0")) }
        #expect(outcome.revision != nil, "\(outcome)\n\(process.errors)")
        #expect(await holds { process.errors.contains("released the reserve") })
        outcome = await settings.dispatch(.clear)
        #expect(outcome.revision != nil, "\(outcome)\n\(process.errors)")
        repeat {
            outcome = await settings.dispatch(.set(key: "again", value: 1))
        } while isFull(outcome) && process.isRunning
        #expect(outcome.revision != nil, "\(outcome)\n\(process.errors)")
        #expect(
            await holds { process.errors.contains("also for the reserve: accepting") },
            "\(process.errors)")
        client.close()
        process.signal(SIGTERM)
        #expect(await process.ended() == .exited(0), "\(process.errors)")
    }
}
