import Foundation
import TestPrograms
import Testing

/// Daemons that are started with other types than those that wrote their history.
///
/// Drives ``OfflineHistory``, ``History`` and ``RecoverySurvey``.
@Suite("Starts and checks with changed types", .timeLimit(.minutes(10)))
struct RefusedStartTests {
    private static let program = "fickle-daemon"

    private let home = TestDirectory()

    private var config: String {
        "data:\n  directory: \(home.path("data"))\n  durability: relaxed\n"
    }

    private func start(_ types: String = "") async throws -> Reactorctl {
        Reactorctl(
            daemon: try await DaemonProcess.start(
                Self.program, config: config, environment: ["FICKLE_TYPES": types], in: home))
    }

    /// Runs a daemon that is expected to end by itself.
    private func run(
        _ types: String, _ arguments: String...
    ) async throws -> (ending: ChildProcess.Ending, log: String, output: String) {
        let path = try home.write(config, to: "run.yaml")
        let process = try ChildProcess(
            Built.product(Self.program),
            ["--config", path, "--socket", home.path("s")] + arguments,
            environment: ["FICKLE_TYPES": types], in: home, name: UUID().uuidString)
        return (await process.ended(), process.errors, process.output)
    }

    /// How the history ends: with a snapshot, or with rows after the last snapshot.
    enum End: CaseIterable {
        case snapshot, rows
    }

    /// Makes a history with two applied actions and two plans of the same name.
    private func makeHistory(_ end: End) async throws {
        let reactorctl = try await start()
        for action in [
            #"{"add":{"by":2}}"#, #"{"plan":{"by":3}}"#, #"{"add":{"by":5}}"#,
        ] {
            #expect(try await reactorctl("dispatch", "/", action).code == 0)
        }
        switch end {
        case .snapshot:
            #expect(try await reactorctl("snapshot").code == 0)
            await reactorctl.daemon.stop()
        case .rows: await reactorctl.daemon.kill9()
        }
    }

    /// Expects that today's types refuse the history, naming `reason`, that `--check` says so with
    /// `lines`, and that neither changes a byte, so that the former program continues.
    private func expectRefusal(
        of types: String, _ reason: String, _ lines: [String], _ comment: Comment? = nil
    ) async throws {
        // What an earlier, killed process left is removed by the first successful start.
        let data = home.path("data")
        try Data("half".utf8).write(to: URL(filePath: data + "/journal.sqlite.partial"))
        try Data("half".utf8).write(to: URL(filePath: data + "/snapshot-99.sqlite.partial"))
        let before = try home.dataFiles()
        let refused = try await run(types)
        #expect(refused.ending == .exited(78), comment)
        #expect(refused.log.contains(reason), "\(refused.log)")
        #expect(try home.dataFiles() == before, comment)
        let checked = try await run(types, "--check")
        #expect(checked.ending == .exited(78), comment)
        for line in lines { #expect(checked.output.contains(line), "\(checked.output)") }
        #expect(try home.dataFiles() == before, comment)
        let again = try await start()
        #expect(try await again("get", "/count").output == "7\n")
        #expect(await again.daemon.stop() == .exited(0))
        let left = try home.dataFiles().keys.filter { $0.hasSuffix(".partial") }
        #expect(left.isEmpty)
    }

    @Test(
        "a stored field that the program lacks refuses the start, and no byte changes",
        arguments: End.allCases)
    func renamed(end: End) async throws {
        try await makeHistory(end)
        try await expectRefusal(
            of: "renamed", "/: the state of Fickle",
            [
                "/: Fickle state: needs a decision: count is not in the program: write "
                    + #"@WireAlias("count")"#,
                "/: Fickle state: fine: total is new, with a default", "is refused: /: the state",
            ])
    }

    @Test("a mutation that the program cannot read refuses the start, and no byte changes")
    func retyped() async throws {
        try await makeHistory(.rows)
        try await expectRefusal(
            of: "retyped", "/: a mutation of Fickle",
            ["/: Fickle mutation: forbidden: added.by was an integer, and is text now"])
    }

    @Test(
        "an action that the program lacks and that is planned is named with the number of plans",
        arguments: End.allCases)
    func unplanned(end: End) async throws {
        try await makeHistory(end)
        try await expectRefusal(
            of: "unplanned", #"the planned action "later" of Fickle"#,
            [
                "/: Fickle action: needs a decision: remind is not in the program",
                #"/: 1 plan of the action "remind" waits, the next is due 2"#,
                #"write @WireAlias("remind")"#,
            ])
    }

    @Test("a missing reactor refuses the start, and no byte changes", arguments: End.allCases)
    func other(end: End) async throws {
        try await makeHistory(end)
        let reason = "the history has a Fickle at /, and the daemon has a Steady there"
        try await expectRefusal(of: "other", reason, ["is refused: \(reason)"])
    }

    @Test("a journal of a newer format refuses the start, and no byte changes")
    func newer() async throws {
        try await makeHistory(.snapshot)
        let path = home.path("data") + "/journal.sqlite"
        var bytes = try Data(contentsOf: URL(filePath: path))
        bytes[63] += 1
        try bytes.write(to: URL(filePath: path))
        let before = try home.dataFiles()
        for run in [try await run(""), try await run("", "--check")] {
            #expect(run.ending == .exited(78) && run.log.contains("format"), "\(run.log)")
            #expect(try home.dataFiles() == before)
        }
    }

    @Test("a commit that was cut off and never acknowledged is kept by a refused start")
    func torn() async throws {
        try await makeHistory(.rows)
        let path = URL(filePath: home.path("data") + "/journal.sqlite-wal")
        var log = try Data(contentsOf: path)
        // The header has the size of a page at 8 and the salts at 16, each frame its salts at 8.
        let frameByteCount = 24 + log[8..<12].reduce(0) { $0 << 8 | Int($1) }
        let salts = log[16..<24]
        var end = 32
        while log.count >= end + frameByteCount, log[end + 8..<end + 16] == salts {
            end += frameByteCount
        }
        var frame = Data(repeating: 7, count: frameByteCount)
        frame.replaceSubrange(8..<16, with: salts)
        log = log[..<end] + frame + log.dropFirst(end + frameByteCount)
        try log.write(to: path)
        try await expectRefusal(of: "renamed", "dropped an incomplete commit", [])
    }

    @Test("differences that no stored value shows are named, and a start continues")
    func unaffected() async throws {
        // A start from a snapshot reads no mutation of the rows before it.
        try await makeHistory(.snapshot)
        let checked = try await run("retyped", "--check")
        #expect(checked.ending == .exited(0))
        #expect(
            checked.output.contains(
                "/: Fickle mutation (every stored value is read): forbidden: added.by was"),
            "\(checked.output)")
        let next = try await start("retyped")
        #expect(try await next("get", "/count").output == "7\n")
        #expect(await next.daemon.stop() == .exited(0))
    }

    @Test("declared changes are fine; the next start records the new schemas, and an older refuses")
    func aliased() async throws {
        try await makeHistory(.rows)
        let checked = try await run("aliased", "--check")
        #expect(checked.ending == .exited(0))
        let line = "/: Fickle state: fine: count is renamed to total"
        #expect(checked.output.contains(line), "\(checked.output)")
        let next = try await start("aliased")
        #expect(try await next("dispatch", "/", #"{"add":{"by":1}}"#).code == 0)
        #expect(try await next("get", "/total").output == "8\n")
        #expect(try await next("snapshot").code == 0)
        #expect(await next.daemon.stop() == .exited(0))
        let again = try await run("aliased", "--check")
        #expect(again.ending == .exited(0) && !again.output.contains(line), "\(again.output)")
        let older = try await run("", "--check")
        #expect(older.ending == .exited(78))
        #expect(
            older.output.contains("/: Fickle state: needs a decision: total is not in the program"),
            "\(older.output)")
        #expect(try await run("").ending == .exited(78))
    }
}
