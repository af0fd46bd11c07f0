import Foundation
import ReactorClient
import ReactorCore
import ReactorTesting
import TestPrograms
import Testing

/// A version of the schema. Its history in `Golden` was written by its own daemon.
private struct SchemaVersion {
    let number: Int
    /// Starts the version's daemon on the history in a directory.
    let start: @Sendable (_ directory: String) throws -> LiveDaemon

    static let all: [SchemaVersion] = [
        SchemaVersion(number: 1) { try LiveDaemon(V1.Coordinator(), keeping: $0) },
        SchemaVersion(number: 2) { try LiveDaemon(V2.Coordinator(), keeping: $0) },
        SchemaVersion(number: 3) { try LiveDaemon(V3.Coordinator(), keeping: $0) },
        SchemaVersion(number: 4) { try LiveDaemon(V4.Coordinator(), keeping: $0) },
        SchemaVersion(number: 5) { try LiveDaemon(V5.Coordinator(), keeping: $0) },
        SchemaVersion(number: 6) { try LiveDaemon(V6.Coordinator(), keeping: $0) },
        SchemaVersion(number: 7) { try LiveDaemon(V7.Coordinator(), keeping: $0) },
    ]

    /// The folder of the version's history.
    var golden: String { Self.folder + "/version-\(number)" }

    private static let folder = Built.root + "/Tests/ExamplesTests/Deploy/Versions/Golden"

    /// The name of the project that the version adds.
    var project: String { "web\(number)" }

    /// Adds a project with a plan and a run, and sets the timeout to as many minutes as the version
    /// has as its number.
    func use(_ directory: String) async throws {
        let daemon = try start(directory)
        let client = try await Client.connect(to: daemon.path)
        let path = "/projects/\(project)"
        // Only the number of a timeout has another meaning in later versions.
        let timeout = number < 4 ? number : number * 60
        try await client.dispatch("/", V1.Coordinator.Action.add(project: project)).get()
        try await client.dispatch(path, V1.Project.Action.configure("make \(project)")).get()
        try await client.dispatch(path, V1.Project.Action.build).get()
        try await client.dispatch(path + "/runs/1", VersionedRun.Action.finish(succeeded: true))
            .get()
        try await client.dispatch("/settings", V1.Settings.Action.timeout(timeout)).get()
        daemon.stop()
    }

    /// Checks that today's types see what the version has written.
    func check(_ history: OldHistory) throws {
        let path = "/projects/\(project)"
        let state = try history.state(of: V7.Repository.self, at: path)
        #expect(state == V7.Repository.State(command: "make \(project)", last: 1))
        let run = try history.state(of: VersionedRun.self, at: path + "/runs/1")
        #expect(run.results == [true])
        let plans = try history.plannedActions(of: V7.Repository.self, at: path)
        #expect(plans == ["nightly": .build(because: "nightly")])
    }
}

@Suite("Seven versions of a schema", .timeLimit(.minutes(10)))
struct SchemaVersionTests {
    @Test("today's types open the directory of every version", arguments: 1...7)
    func golden(number: Int) throws {
        let version = SchemaVersion.all[number - 1]
        let history = try OldHistory(in: version.golden, of: V7.Coordinator())
        try version.check(history)
        #expect(try history.state(of: V7.Settings.self, at: "/settings").timeout == number * 60)
        let names = try history.state(of: V7.Coordinator.self).names
        #expect(names == [V7.RepositoryName(text: version.project)])
        // The function `migrate` converts the list, and the schemas cannot tell that it does.
        let losses = history.changes.filter { !$0.isFine }.map { "\($0)" }
        #expect(losses.isEmpty == (number == 7), "\(losses)")
        let isConverted = losses.allSatisfy {
            $0.hasPrefix("/: Coordinator state (every stored value is read)")
        }
        #expect(isConverted, "\(losses)")
        #expect(history.changes.isEmpty == (number == 7), "\(history.changes)")
    }

    @Test("one directory goes through all seven versions, each of which adds to it")
    func sequence() async throws {
        let home = TestDirectory()
        let directory = home.path("data")
        try Self.create(directory)
        for version in SchemaVersion.all { try await version.use(directory) }
        let history = try OldHistory(in: directory, of: V7.Coordinator())
        for version in SchemaVersion.all { try version.check(history) }
        #expect(try history.state(of: V7.Settings.self, at: "/settings").timeout == 420)
        #expect(try history.state(of: V7.Coordinator.self).names.count == 7)
    }

    @Test("an earlier version refuses the directory of a later one, and says what it lacks")
    func backwards() throws {
        let last = SchemaVersion.all[6].golden
        let error = #expect(throws: OldHistoryError.self) {
            try OldHistory(in: last, of: V3.Coordinator())
        }
        #expect(error?.description.contains("/settings") == true, "\(error?.description ?? "")")
        #expect(error?.description.contains("Repository") == true, "\(error?.description ?? "")")
    }

    /// Writes the golden directories again, for a new version of the schema or of the journal:
    ///
    ///     WRITE_GOLDEN=1 swift test --filter SchemaVersionTests.write
    @Test(
        "the golden directories are written",
        .enabled(if: ProcessInfo.processInfo.environment["WRITE_GOLDEN"] != nil))
    func write() async throws {
        for version in SchemaVersion.all {
            try? FileManager.default.removeItem(atPath: version.golden)
            try Self.create(version.golden)
            try await version.use(version.golden)
            Self.removeTemporaryFiles(of: version.golden)
        }
    }

    /// Removes what a daemon creates again; the reserve is large.
    static func removeTemporaryFiles(of directory: String) {
        for file in ["reserve", "journal.lock", "journal.sqlite-shm", "journal.sqlite-wal"] {
            try? FileManager.default.removeItem(atPath: directory + "/" + file)
        }
    }

    /// Creates a data directory with the permissions that a daemon gives it.
    static func create(_ directory: String) throws {
        try FileManager.default.createDirectory(
            atPath: directory, withIntermediateDirectories: true,
            attributes: [.posixPermissions: 0o700])
    }
}
