import ReactorWire
import TestPrograms
import Testing

/// A real daemon whose states have the maximum of the configuration.
@Suite("The maximum of all states at a real daemon", .timeLimit(.minutes(10)))
struct StateCeilingProcessTests {
    private let home = TestDirectory()

    private func config(_ stateBytesMax: String) -> String {
        """
        data: { directory: \(home.path("data")) }
        limits: { stateBytesMax: \(stateBytesMax) }
        reactors: { settings: { kind: map, capacity: 100 }, visits: { kind: counter } }

        """
    }

    private func set(
        _ key: String, _ byteCount: Int, _ control: Reactorctl
    ) async throws -> ClientProgram.Run {
        let text = String(repeating: "x", count: byteCount)
        return try await control(
            "dispatch", "/settings", #"{"set":{"key":"\#(key)","value":"\#(text)"}}"#)
    }

    @Test(
        "P77: states above stateBytesMax only shrink, after a start too, until a reload raises it")
    func ceiling() async throws {
        var daemon = try await DaemonProcess.start(config: config("1MiB"), in: home)
        var control = Reactorctl(daemon: daemon)
        var count = 0
        while count < 100 {
            let run = try await set("k\(count)", 60_000, control)
            if run.code == 74 {
                #expect(run.output.contains("MEMORY_FULL") || run.errors.contains("MEMORY_FULL"))
                break
            }
            #expect(run.code == 0, "\(run)")
            count += 1
        }
        #expect((17...20).contains(count), "\(daemon.log)")
        #expect(try await control("stats").output.contains(#""stateFull":1"#))
        let metrics = try await control("metrics").output
        #expect(metrics.contains("reactord_states_full 1\n"))
        #expect(metrics.contains("reactord_states_bytes_max 1048576\n"))
        #expect(try await control("get", "/visits/count").output == "0\n")
        #expect(await daemon.stop() == .exited(0))

        daemon = try await DaemonProcess.start(config: config("1MiB"), in: home)
        control = Reactorctl(daemon: daemon)
        #expect(try await set("again", 1_000, control).code == 74)
        #expect(try await control("dispatch", "/settings", #"{"remove":{"key":"k0"}}"#).code == 0)
        _ = try home.write(config("2MiB"), to: "reactord.yaml")
        let reload = try await control("reload")
        #expect(reload.code == 0 && reload.output.contains("limits.stateBytesMax"), "\(reload)")
        #expect(try await control("describe", "--limits").output.contains("2097152"))
        #expect(try await set("again", 1_000, control).code == 0)
        #expect(await daemon.stop() == .exited(0))
    }
}
