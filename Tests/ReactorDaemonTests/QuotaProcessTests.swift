import Foundation
import ReactorClient
import ReactorCore
import ReactorWire
import StockReactors
import TestPrograms
import Testing

/// Users with quotas at a real daemon, whose timer wakes it.
@Suite("Quotas at a real daemon", .timeLimit(.minutes(10)))
struct QuotaProcessTests {
    private let directory = TestDirectory()
    private var admin: String { directory.path("admin") }
    private var settings: String {
        """
        admin: { socket: \(admin) }
        data: { directory: \(directory.path("data")) }
        \(DaemonProcess.example)

        """
    }

    private func start(_ rule: String) async throws -> (daemon: DaemonProcess, client: Client) {
        let daemon = try await DaemonProcess.start(
            config: settings + "quotas: [\(rule)]\n", in: directory)
        let client = try await Client.connect(
            to: daemon.socketPath, options: ClientOptions(program: "tests"))
        return (daemon, client)
    }

    /// Runs `reactorctl` as an administrator, whom quotas do not slow down.
    private func control(_ arguments: String...) async throws -> (code: Int32, output: String) {
        let process = try ChildProcess(
            Built.product("reactorctl"),
            [arguments[0], "--socket", admin] + arguments.dropFirst(), in: directory,
            name: UUID().uuidString)
        guard case .exited(let code) = await process.ended() else { return (-1, "") }
        return (code, process.output)
    }

    private func pauseCount() async throws -> WireValue {
        let stats = try WireValue(json: try await control("stats").output)
        guard case .map(let map) = stats else { return 0 }
        return try #require(map["quotaPauses"])
    }

    @Test("X117: a user above its rate waits, and gets the outcome of every action")
    func actions() async throws {
        let (daemon, client) = try await start("{to: anyone, actions: 20/s}")
        let visits = try await client.mirror(Counter.self, at: "/visits")
        await withTaskGroup(of: Void.self) { group in
            for _ in 0..<120 {
                group.addTask {
                    let outcome = await visits.dispatch(.increment(by: 1))
                    #expect(outcome.revision != nil, "\(outcome)")
                }
            }
        }
        // The daemon may have read all of them before the pause.
        #expect(await visits.dispatch(.increment(by: 1)).revision != nil)
        #expect(try await control("get", "/visits/count").output == "121\n")
        #expect(try await pauseCount() != 0)
        #expect(try await control("metrics").output.contains("reactord_quota_pauses_total "))
        client.close()
        #expect(await daemon.stop() == .exited(0))
    }

    @Test("X117: a user that has used its journal bytes waits until a reload lifts the quota")
    func journal() async throws {
        let (daemon, client) = try await start("{to: anyone, journal: 1KiB/d}")
        let map = try await client.mirror(Map.self, at: "/settings")
        let text = WireValue.text(String(repeating: "x", count: 2_000))
        #expect(await map.dispatch(.set(key: "first", value: text)).revision != nil)
        #expect(try await pauseCount() == 1)
        async let second = map.dispatch(.set(key: "second", value: text))
        let held = try await control("get", "/settings/entries")
        #expect(held.code == 0 && held.output.contains("first"))
        #expect(!held.output.contains("second"))
        _ = try directory.write(settings, to: "reactord.yaml")
        let reload = try await control("reload")
        #expect(reload.code == 0 && reload.output.contains("quotas"), "\(reload)")
        #expect(await second.revision != nil)
        client.close()
        #expect(await daemon.stop() == .exited(0))
    }
}
