import TestPrograms
import Testing

/// A daemon with a data directory whose reactor has a derived value, from the shell.
@Suite("A derived value of a real daemon", .timeLimit(.minutes(10)))
struct DerivedKillTests {
    private let home = TestDirectory()

    private func start() async throws -> Reactorctl {
        Reactorctl(
            daemon: try await DaemonProcess.start(
                "fickle-daemon", config: "data:\n  directory: \(home.path("data"))\n", in: home))
    }

    @Test("kill -9 and a restart lead to the same value, and the past has its own")
    func killed() async throws {
        let first = try await start()
        for amount in 1...4 {
            let action = #"{"add":{"by":\#(amount)}}"#
            #expect(try await first("dispatch", "/", action).code == 0)
        }
        #expect(try await first("get", "/doubled").output == "20\n")
        await first.daemon.kill9()
        let second = try await start()
        #expect(try await second("get", "/doubled").output == "20\n")
        #expect(try await second("get", "/doubled", "--at", "2").output == "6\n")
        #expect(try await second("dispatch", "/", #"{"add":{"by":5}}"#).code == 0)
        #expect(try await second("get", "/").output.contains("\"doubled\":30"))
        await second.daemon.kill9()
    }

    @Test("tree and describe show a derived value, export leaves it out, an action is refused")
    func shown() async throws {
        let daemon = try await start()
        #expect(try await daemon("dispatch", "/", #"{"add":{"by":1}}"#).code == 0)
        #expect(try await daemon("tree").output.contains("/doubled"))
        let described = try await daemon("describe", "/doubled").output
        #expect(described.contains("derived Int") && described.contains("Twice the count."))
        let root = try await daemon("describe", "/").output
        #expect(root.contains(#""doc":"Twice the count.","name":"doubled""#))
        let refused = try await daemon("dispatch", "/doubled", "{}")
        #expect(refused.code != 0)
        let exported = try await daemon("export", "/").output
        #expect(exported.contains("Fickle") && !exported.contains("doubled"))
        let past = try await daemon("export", "/doubled")
        #expect(past.code != 0 && past.errors.contains("/doubled is a derived value"))
        #expect(await daemon.daemon.stop() == .exited(0))
    }
}
