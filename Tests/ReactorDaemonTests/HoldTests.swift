import Foundation
import TestPrograms
import Testing

/// Drives ``HeldCommandCore``.
@Suite("reactorctl hold", .timeLimit(.minutes(10)))
struct HoldTests {
    private static let acquire = #"{"acquire":{}}"#

    /// Starts `hold` of the lock with a script as its command, and waits until the script prints
    /// "on".
    private func hold(
        _ reactorctl: Reactorctl, options: [String] = [], _ script: String, name: String = "hold"
    ) async throws -> ChildProcess {
        let process = try reactorctl.start(
            ["hold", "/team/lock", Self.acquire] + options + ["--", "sh", "-c", script],
            name: name)
        #expect(await process.says("on"))
        return process
    }

    /// Whether the process runs: it exists and is not a zombie.
    private func runs(_ pid: String) -> Bool {
        guard let stat = try? String(contentsOfFile: "/proc/\(pid)/stat", encoding: .utf8) else {
            return false
        }
        let state = stat[(stat.lastIndex(of: ")") ?? stat.startIndex)...].dropFirst(2).first
        return state != "Z" && state != "X"
    }

    /// The words that the process has printed after "on".
    private func words(_ process: ChildProcess) -> [String] {
        process.output.split(whereSeparator: \.isWhitespace).dropFirst().map(String.init)
    }

    @Test(
        "a signal is passed to the command, which holds the lock until it has ended",
        arguments: [SIGTERM, SIGHUP, SIGUSR1])
    func handsOn(signal: Int32) async throws {
        let reactorctl = Reactorctl(daemon: try await DaemonProcess.start())
        let holder =
            "\(Built.product("reactorctl")) get --socket \(reactorctl.daemon.socketPath) "
            + "/team/lock/holder/token"
        let process = try await hold(
            reactorctl,
            "trap '\(holder); exit 5' TERM HUP USR1; echo on; while :; do sleep 0.05; done")
        process.signal(signal)
        #expect(await process.ended() == .exited(5))
        #expect(words(process) == ["1"])
        #expect(try await reactorctl("get", "/team/lock/holder").output == "null\n")
    }

    @Test("the command leads a process group of its own")
    func group() async throws {
        let reactorctl = Reactorctl(daemon: try await DaemonProcess.start())
        let process = try await hold(reactorctl, "echo on $$; cut -d' ' -f5 /proc/$$/stat")
        #expect(await process.ended() == .exited(0))
        let words = words(process)
        #expect(words.count == 2 && words[0] == words[1])
    }

    @Test("the command and its children are killed with hold")
    func killed() async throws {
        let reactorctl = Reactorctl(daemon: try await DaemonProcess.start())
        let process = try await hold(
            reactorctl,
            "trap '' TERM HUP; sleep 600 & a=$!; (trap '' TERM; sleep 600) & echo on $$ $a $!; wait"
        )
        #expect(await holds { words(process).count == 3 })
        let pids = words(process)
        #expect(pids.allSatisfy { runs($0) })
        process.signal(SIGKILL)
        #expect(await holds { !pids.contains { runs($0) } })
        #expect(try await reactorctl("get", "/team/lock/holder").output == "null\n")
    }

    @Test("the command and its children end with the daemon, and --on-failure is skipped")
    func lost() async throws {
        let reactorctl = Reactorctl(daemon: try await DaemonProcess.start())
        let process = try await hold(
            reactorctl, options: ["--on-failure", #"{"release":{"token":1}}"#],
            "sleep 600 & echo on $$ $!; wait")
        #expect(await holds { words(process).count == 2 })
        let pids = words(process)
        await reactorctl.daemon.kill9()
        #expect(await process.ended() == .exited(75))
        #expect(await holds { !pids.contains { runs($0) } })
        #expect(process.errors.contains("the connection was lost"))
        #expect(process.errors.contains("--on-failure was omitted"))
    }

    @Test("--on-loss kill ends a command that ignores SIGTERM")
    func lostAndKilled() async throws {
        let reactorctl = Reactorctl(daemon: try await DaemonProcess.start())
        let process = try await hold(
            reactorctl, options: ["--on-loss", "kill"],
            "trap '' TERM; echo on; sleep 600")
        await reactorctl.daemon.kill9()
        #expect(await process.ended() == .exited(75))
    }

    @Test("--on-loss warn lets the command continue, and turns its 0 into 75")
    func lostAndWarned() async throws {
        let reactorctl = Reactorctl(daemon: try await DaemonProcess.start())
        let go = reactorctl.daemon.directory.path("go")
        let process = try await hold(
            reactorctl, options: ["--on-loss", "warn"],
            "echo on; while [ ! -e \(go) ]; do sleep 0.05; done; echo over")
        await reactorctl.daemon.kill9()
        #expect(await holds { process.errors.contains("the connection was lost") })
        _ = try reactorctl.daemon.directory.write("", to: "go")
        #expect(await process.ended() == .exited(75))
        #expect(words(process) == ["over"])
    }

    @Test(
        "a hold that waits for a lock continues to wait after a restart of the daemon",
        arguments: [true, false])
    func waitsOn(keepsHistory: Bool) async throws {
        let directory = TestDirectory()
        let data = "data:\n  directory: \(directory.path("data"))\n"
        let config = (keepsHistory ? data : "") + DaemonProcess.example
        let reactorctl = Reactorctl(
            daemon: try await DaemonProcess.start(config: config, in: directory))
        let holder = try await hold(reactorctl, "echo on; sleep 600", name: "holder")
        let waiter = try reactorctl.start(
            ["hold", "/team/lock", #"{"acquire":{"wait":true}}"#, "--", "echo", "ran"],
            name: "waiter")
        var isWaiting = false
        while !isWaiting {
            isWaiting = try await reactorctl("get", "/team/lock/waiters/0").code == 0
        }
        await reactorctl.daemon.kill9()
        #expect(await holder.ended() == .exited(75))
        let again = try await DaemonProcess.start(config: config, in: directory)
        #expect(await waiter.ended() == .exited(0))
        #expect(waiter.output == "ran\n")
        #expect(waiter.errors.contains("waiting again"))
        await again.stop()
    }

    @Test("a command that cannot be run ends with 127, or with 126 if it is not a program")
    func noCommand() async throws {
        let reactorctl = Reactorctl(daemon: try await DaemonProcess.start())
        let missing = try await reactorctl(
            "hold", "/team/lock", Self.acquire, "--", "no-such-command-here")
        #expect(missing.code == 127 && missing.errors.contains("no-such-command-here"))
        let file = try reactorctl.daemon.directory.write("", to: "file")
        let plain = try await reactorctl("hold", "/team/lock", Self.acquire, "--", file)
        #expect(plain.code == 126 && plain.errors.contains(file))
    }

    @Test("--timeout ends a hold and a dispatch without an outcome with 75")
    func timeout() async throws {
        let reactorctl = Reactorctl(daemon: try await DaemonProcess.start())
        let go = reactorctl.daemon.directory.path("go")
        let holder = try await hold(
            reactorctl, "echo on; while [ ! -e \(go) ]; do sleep 0.05; done", name: "holder")
        let wait = #"{"acquire":{"wait":true}}"#
        let second = try await reactorctl(
            "hold", "/team/lock", wait, "--timeout", "200ms", "--", "echo", "ran")
        #expect(second.code == 75 && second.output == "")
        #expect(second.errors.contains("within 200ms"))
        let third = try await reactorctl("dispatch", "/team/lock", wait, "--timeout", "200ms")
        #expect(third.code == 75 && third.errors.contains("within 200ms"))
        let line = try await reactorctl(
            "dispatch", "/team/lock", "-", "--timeout", "3s", input: wait + "\n")
        #expect(line.code == 75 && line.output.contains(#""unknown":1"#))
        _ = try reactorctl.daemon.directory.write("", to: "go")
        #expect(await holder.ended() == .exited(0))
    }

    @Test("without a terminal, a hold and a dispatch end with 75 if the daemon stays absent")
    func goneForGood() async throws {
        let reactorctl = Reactorctl(daemon: try await DaemonProcess.start())
        let holder = try await hold(
            reactorctl, options: ["--on-loss", "warn"], "echo on; sleep 600", name: "holder")
        let wait = #"{"acquire":{"wait":true}}"#
        let commands = [["dispatch", wait], ["hold", wait, "--", "true"], ["dispatch", "-"]]
        let waiters = try commands.map { words in
            try ChildProcess(
                Built.product("reactorctl"),
                [words[0], "--socket", reactorctl.daemon.socketPath, "/team/lock"]
                    + words.dropFirst(),
                environment: ["REACTORCTL_PATIENCE": "200ms"], input: wait + "\n",
                in: reactorctl.daemon.directory, name: words.joined())
        }
        var areWaiting = false
        for _ in 0..<1_000 where !areWaiting {
            areWaiting = try await reactorctl("get", "/team/lock/waiters/2").code == 0
        }
        #expect(areWaiting)
        await reactorctl.daemon.kill9()
        for waiter in waiters {
            #expect(await waiter.ended() == .exited(75))
            #expect(waiter.errors.contains("no daemon for 200ms"))
        }
        holder.signal(SIGKILL)
    }
}
