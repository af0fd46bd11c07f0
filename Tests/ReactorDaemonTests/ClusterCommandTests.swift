import Foundation
import ReactorClient
import ReactorWire
import TestPrograms
import Testing

/// The commands about a cluster, with daemons that are in none.
@Suite("reactorctl cluster and reactord cluster", .timeLimit(.minutes(10)))
struct ClusterCommandTests {
    @Test("a daemon without a cluster refuses `cluster` and `stepDown` by name")
    func alone() async throws {
        let daemon = try await DaemonProcess.start()
        let reactorctl = Reactorctl(daemon: daemon)
        for arguments in [["status"], ["status", "--json"], ["wait"], ["step-down"]] {
            let process = try reactorctl.start(
                ["cluster"] + arguments, name: arguments.joined(separator: "-"))
            #expect(await process.ended() == .exited(66), "\(arguments)")
            #expect(process.errors.contains("this daemon is in no cluster"), "\(process.errors)")
            #expect(process.output.isEmpty, "\(process.output)")
        }
        let client = try await Client.connect(to: daemon.socketPath)
        for name in ["b", nil] {
            let error = await #expect(throws: ClientError.self) {
                try await client.stepDown(to: name)
            }
            guard case .refused(let refusal) = error else {
                Issue.record("expected a refusal, got \(String(describing: error))")
                continue
            }
            #expect(refusal.code == .notFound && refusal.message.contains("in no cluster"))
        }
        client.close()
    }

    @Test("the options of the connection stand before, between or after the names of the command")
    func options() async throws {
        let daemon = try await DaemonProcess.start()
        let place = ["--socket", daemon.socketPath]
        for (index, arguments) in [
            place + ["cluster", "status"], ["cluster"] + place + ["status"],
            ["cluster", "status"] + place, ["--socket=\(daemon.socketPath)", "cluster", "status"],
        ].enumerated() {
            let process = try ChildProcess(
                Built.product("reactorctl"), arguments, in: daemon.directory, name: "at-\(index)")
            #expect(await process.ended() == .exited(66), "\(arguments): \(process.errors)")
        }
        let help = try ChildProcess(
            Built.product("reactorctl"), ["cluster"], in: daemon.directory, name: "help")
        #expect(await help.ended() == .exited(0))
        #expect(help.output.contains("step-down"), "\(help.output)")
    }

    @Test("without a daemon, and with a time that is none, the commands end with their codes")
    func codes() async throws {
        let daemon = try await DaemonProcess.start()
        let reactorctl = Reactorctl(daemon: daemon)
        #expect(try await reactorctl("cluster", "step-down", "--timeout", "soon").code == 2)
        await daemon.stop()
        #expect(try await reactorctl("cluster", "status").code == 69)
        #expect(try await reactorctl("cluster", "step-down").code == 69)
    }

    @Test("a daemon that is alone has the current state; a revision is awaited, or refused by name")
    func recency() async throws {
        let daemon = try await DaemonProcess.start()
        let reactorctl = Reactorctl(daemon: daemon)
        #expect(try await reactorctl("get", "/visits", "--consistent").code == 0)
        #expect(try await reactorctl("watch", "/visits", "--consistent", "--count", "1").code == 0)
        #expect(try await reactorctl("get", "/visits", "--at-least", "0").code == 0)
        let late = try await reactorctl("get", "/visits", "--at-least", "9", "--within", "10ms")
        #expect(late.code == 75 && late.errors.contains("after 10 ms, the daemon is at sequence 0"))
        let other = try await reactorctl("get", "/visits", "--at-least", "00000000000000ff:1")
        #expect(other.code == 66 && other.errors.contains("another history"), "\(other.errors)")
        #expect(try await reactorctl("get", "/visits", "--at-least", "x").code == 2)
        #expect(try await reactorctl("get", "/visits", "--within", "soon").code == 2)
        #expect(try await reactorctl("get", "/visits", "--at", "0", "--consistent").code == 2)
        #expect(try await reactorctl("cluster", "wait", "--timeout", "soon").code == 2)
    }

    @Test("init refuses a configuration without a cluster, and leaves the directory alone")
    func initAlone() async throws {
        let home = TestDirectory()
        let config = "data: { directory: \(home.path("data")) }\n" + DaemonProcess.example
        let path = try home.write(config, to: "alone.yaml")
        let process = try ChildProcess(
            Built.product("reactord"), ["cluster", "init", "--config", path], in: home,
            name: "init")
        #expect(await process.ended() == .exited(78))
        #expect(process.errors.contains("alone.yaml has no `cluster:`"), "\(process.errors)")
        #expect(!FileManager.default.fileExists(atPath: home.path("data")))
    }
}
