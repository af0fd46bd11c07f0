import DeployExample
import Foundation
import ReactorClient
import ReactorCore
import ReactorTesting
import TestPrograms
import Testing

/// The history that an earlier build of the example has written, see `Golden/coordinator`.
@Suite("The history of the deploy coordinator", .timeLimit(.minutes(10)))
struct DeployHistoryTests {
    /// The data directories of earlier builds and versions.
    static let folder = Built.root + "/Tests/ExamplesTests/Deploy/Versions/Golden"
    private static let golden = folder + "/coordinator"

    private static let hooks = Hooks(deploy: { "shipped \($0.run)" }, announce: { _ in })

    private static var settings: ProjectSettings {
        var settings = ProjectSettings()
        settings.script = "make"
        settings.deployScript = "ship"
        settings.nightly = TimeOfDay(hour: 2, minute: 30)
        settings.next = "api"
        return settings
    }

    private static let api = RunID(project: "api", number: 1)

    /// Performs the run that has waited longest, as a worker; returns it once it has ended.
    private static func work(_ client: Client) async throws -> RunID? {
        let workers = try await client.mirror(Coordinator.workersPath)
        let id = try await workers.dispatch(.next(name: "ann")).get().reply?.run
        guard let id else { return nil }
        let run = try await client.mirror(id.path)
        try await run.dispatch(.finish(exitCode: 0)).get()
        for await state in run.states() where state.phase.isEnd { break }
        return id
    }

    @Test("today's coordinator reads a history of an earlier build")
    func golden() throws {
        let history = try OldHistory(in: Self.golden, of: Coordinator())
        let project = try history.state(of: Project.self, at: "/projects/web")
        #expect(project.settings.value == Self.settings && project.settings.past.count == 1)
        #expect(project.lastNumber == 2 && project.numbers == [1, 2])
        #expect(project.lines[1]?.phase == .succeeded && project.lines[2]?.phase == .waiting)
        let run = try history.state(of: Run.self, at: "/projects/web/runs/1")
        #expect(run.phase == .succeeded && run.log == ["shipped web/1"] && run.attempt == 1)
        let plans = try history.plannedActions(of: Project.self, at: "/projects/web")
        #expect(plans == ["nightly": .nightly])
        let queue = try history.state(of: Coordinator.self)
        #expect(queue.names == ["api", "web"] && queue.waiting == [Self.api, .web(2)])
        #expect(try history.state(of: Settings.self, at: "/settings").runsMax == 4)
        let losses = history.changes.filter { !$0.isFine }
        #expect(losses.isEmpty, "\(losses)")
    }

    /// Copies a data directory of ``folder``, with the permissions that a daemon demands.
    static func copy(_ golden: String, to directory: String) throws {
        try SchemaVersionTests.create(directory)
        let files = FileManager.default
        let source = "\(folder)/\(golden)"
        for name in try files.contentsOfDirectory(atPath: source) {
            try files.copyItem(atPath: "\(source)/\(name)", toPath: "\(directory)/\(name)")
            try files.setAttributes(
                [.posixPermissions: 0o600], ofItemAtPath: "\(directory)/\(name)")
        }
    }

    @Test("today's coordinator goes on with a history of an earlier build")
    func continuation() async throws {
        let home = TestDirectory()
        let directory = home.path("data")
        try Self.copy("coordinator", to: directory)
        let daemon = try LiveDaemon(Coordinator(hooks: Self.hooks), keeping: directory)
        let client = try await Client.connect(to: daemon.path)
        #expect(try await Self.work(client) == Self.api)
        let project = try await client.mirror(Coordinator.path(of: "web"))
        // The planned nightly run comes at once: its time has passed since the history was written.
        let number = try #require(try await project.dispatch(.build()).get().reply?.number)
        #expect((3...4).contains(number))
        #expect(try await Self.work(client) == .web(2))
        #expect(project.state.lines[2]?.phase == .succeeded)
        try await project.dispatch(.undo).get()
        #expect(project.state.settings.value == ProjectSettings())
        daemon.stop()
    }

    /// Writes the golden directory again, for a new version of the journal:
    ///
    ///     WRITE_GOLDEN=1 swift test --filter DeployHistoryTests.write
    @Test(
        "the golden directory is written",
        .enabled(if: ProcessInfo.processInfo.environment["WRITE_GOLDEN"] != nil))
    func write() async throws {
        try? FileManager.default.removeItem(atPath: Self.golden)
        try SchemaVersionTests.create(Self.golden)
        let daemon = try LiveDaemon(Coordinator(hooks: Self.hooks), keeping: Self.golden)
        let client = try await Client.connect(to: daemon.path)
        let coordinator = try await client.mirror(Coordinator.self, at: "/")
        for name in ["web", "api"] { try await coordinator.dispatch(.add(project: name)).get() }
        let limits = try await client.mirror(Coordinator.settingsPath)
        try await limits.dispatch(.runsMax(4)).get()
        let project = try await client.mirror(Coordinator.path(of: "web"))
        try await project.dispatch(.configure(Self.settings)).get()
        try await project.dispatch(.build()).get()
        #expect(try await Self.work(client) == .web(1))
        for await state in coordinator.states() where state.waiting == [Self.api] { break }
        try await project.dispatch(.build()).get()
        daemon.stop()
        SchemaVersionTests.removeTemporaryFiles(of: Self.golden)
    }
}
