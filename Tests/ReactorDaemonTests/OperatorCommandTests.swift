import Foundation
import ReactorWire
import TestPrograms
import Testing

/// The commands of `reactorctl` for an operator.
///
/// Drives ``OperatorService``.
@Suite("Commands for an operator", .timeLimit(.minutes(10)))
struct OperatorCommandTests {
    @Test("health ends with 0 for a daemon that lives, serves and takes changes")
    func healthy() async throws {
        let reactorctl = Reactorctl(daemon: try await DaemonProcess.start())
        for check in ["live", "ready", "write"] {
            let run = try await reactorctl("health", "--\(check)", "--timeout", "300s")
            #expect(run.code == 0 && run.output == "{\"healthy\":\"\(check)\"}\n")
        }
        #expect(try await reactorctl("health").output == "{\"healthy\":\"ready\"}\n")
        #expect(try await reactorctl("health", "--timeout", "soon").code == 2)
        await reactorctl.daemon.stop()
        #expect(try await reactorctl("health", "--live").code == 69)
    }

    @Test("a daemon that refuses clients lives, and is not ready")
    func crowded() async throws {
        let daemon = try await DaemonProcess.start(
            config: "limits: { connectionsMax: 1 }\n" + DaemonProcess.example)
        let reactorctl = Reactorctl(daemon: daemon)
        // The connection that found the daemon's start may not have ended yet.
        var welcomed: RawSocket?
        for _ in 0..<1_000 where welcomed == nil {
            welcomed = RawSocket.welcomed(at: daemon.socketPath)
        }
        let only = try #require(welcomed)
        #expect(try await reactorctl("health", "--live", "--timeout", "300s").code == 0)
        let run = try await reactorctl("health", "--ready", "--timeout", "300s")
        #expect(run.code == 75 && run.errors.contains("connectionsMax"))
        #expect(only.isAnswered())
    }

    @Test("a stopped daemon does not answer in time")
    func stopped() async throws {
        let daemon = try await DaemonProcess.start()
        let reactorctl = Reactorctl(daemon: daemon)
        daemon.signal(SIGSTOP)
        let run = try await reactorctl("health", "--live", "--timeout", "300ms")
        daemon.signal(SIGCONT)
        #expect(run.code == 75 && run.errors.contains("does not answer within 300ms"))
    }

    @Test("clients lists connections with their programs and actions, and kick ends one")
    func clients() async throws {
        let daemon = try await DaemonProcess.start()
        let reactorctl = Reactorctl(daemon: daemon)
        let watcher = try reactorctl.start(["watch", "/visits"], name: "watcher")
        #expect(await holds { watcher.output.contains("\n") })
        let raw = try #require(RawSocket.welcomed(at: daemon.socketPath))
        raw.send(.open, id: 0, number: 1, Open(path: "/visits").wireBytes())
        #expect(raw.frame()?.kind == .opened)
        raw.send(.dispatch, id: 0, number: 1, (["increment": [:]] as WireValue).wireBytes())
        #expect(raw.frame()?.kind == .applied)

        let run = try await reactorctl("clients")
        #expect(run.code == 0)
        let clients = try run.output.split(separator: "\n").map { try WireValue(json: String($0)) }
        let maps = clients.compactMap { if case .map(let map) = $0 { map } else { nil } }
        #expect(maps.count == 3)
        #expect(maps.map { $0["program"] } == ["reactorctl", "raw", "reactorctl"])
        #expect(maps.map { $0["subscriptions"] } == [1, 0, 0])
        #expect(maps.map { $0["actions"] } == [0, 1, 0])
        #expect(maps.allSatisfy { $0["uid"]?.json() == "\(geteuid())" })
        let pid = try #require(maps.last?["pid"])
        #expect(pid.json() != "\(daemon.pid)")

        let number = try #require(maps[1]["connection"])
        let kicked = try await reactorctl("kick", number.json())
        #expect(kicked.code == 0 && kicked.output.contains(#""program":"raw""#))
        let closing = try #require(raw.frame())
        #expect(closing.kind == .closing)
        #expect(try Closing(wireBytes: closing.body.span).code == .kicked)
        #expect(raw.frame() == nil)
        #expect(await holds { daemon.log.contains("an operator ended a connection") })
        let again = try await reactorctl("kick", number.json())
        #expect(again.code == 66 && again.errors.contains("reactorctl clients"))
    }

    @Test("a kicked client of the library connects again and continues")
    func continues() async throws {
        let daemon = try await DaemonProcess.start()
        let reactorctl = Reactorctl(daemon: daemon)
        let watcher = try reactorctl.start(["watch", "/visits"], name: "watcher")
        #expect(await holds { watcher.output.contains("\n") })
        let clients = try await reactorctl("clients").output.split(separator: "\n")
        guard case .map(let kicked) = try WireValue(json: String(try #require(clients.first)))
        else { return #expect(Bool(false), "clients are maps") }
        let number = try #require(kicked["connection"])
        #expect(try await reactorctl("kick", number.json()).code == 0)
        #expect(await holds { watcher.errors.contains("connected to") })
        _ = try await reactorctl("dispatch", "/visits", #"{"increment":{"by":3}}"#)
        #expect(await holds { watcher.output.contains(#"{"count":3}"#) })
        watcher.signal(SIGKILL)
    }
}
