import Foundation
import Glibc
import Synchronization

/// A process that a test started: a built product, or any other program.
///
/// Output goes to files, because a pipe that nobody empties stops its writer, and one that a
/// sibling inherited never ends.
package final class ChildProcess: Sendable {
    package let pid: Int32
    /// Resolves when the process has ended; may be awaited any number of times.
    private let ending: Task<Ending, Never>
    private let end = End()
    private let directory: TestDirectory
    private let name: String

    /// How a process ended.
    package enum Ending: Equatable, Sendable {
        case exited(Int32)
        case killed(signal: Int32)
    }

    /// Starts `executable`; its output is kept in `directory` under `name`.
    ///
    /// `environment` is added to that of the tests, without the variables that lead to a daemon of
    /// the person who runs them.
    package init(
        _ executable: String, _ arguments: [String] = [], environment: [String: String] = [:],
        input: String = "", in directory: TestDirectory, name: String
    ) throws {
        self.directory = directory
        self.name = name
        let inputPath = try directory.write(input, to: "\(name).in")
        // because a second process of the same name adds to what the first one said
        pid = try Spawn.run(
            executable, arguments, Self.inherited.merging(environment) { $1 }, input: inputPath,
            output: directory.path("\(name).out"), errors: directory.path("\(name).err"))
        let (endings, continuation) = AsyncStream<Ending>.makeStream()
        Spawn.wait(for: pid) { [end] ending in
            end.hasCome.store(true, ordering: .releasing)
            continuation.yield(ending)
            continuation.finish()
        }
        ending = Task {
            for await ending in endings { return ending }
            preconditionFailure("a process ends once")
        }
    }

    // because a test that fails half-way must not leave its processes behind
    deinit { if isRunning { kill(pid, SIGKILL) } }

    /// What it has written to standard output so far.
    package var output: String { directory.read("\(name).out") }

    /// What it has written to standard error so far.
    package var errors: String { directory.read("\(name).err") }

    /// Whether it has not ended yet.
    package var isRunning: Bool { !end.hasCome.load(ordering: .acquiring) }

    /// Waits for the end.
    package func ended() async -> Ending { await ending.value }

    /// Waits until it has written `text` to standard output; false if it does not within a minute.
    package func says(_ text: String) async -> Bool {
        let deadline = ContinuousClock.now + .seconds(60)
        while !output.contains(text) {
            // because what was written last is read once more when it has ended
            if !isRunning { return output.contains(text) }
            if ContinuousClock.now > deadline { return false }
            await Self.pause()
        }
        return true
    }

    /// Lets others have the processor for a moment before the next look.
    static func pause() async {
        await withCheckedContinuation { continuation in
            DispatchQueue.global().asyncAfter(deadline: .now() + .milliseconds(2)) {
                continuation.resume()
            }
        }
    }

    /// Sends a signal, unless it has ended.
    package func signal(_ signal: Int32) { if isRunning { kill(pid, signal) } }

    // because the number of a process that has ended may be another's by now
    private final class End: Sendable {
        let hasCome = Atomic<Bool>(false)
    }

    private static let inherited = ProcessInfo.processInfo.environment.filter {
        $0.key != "REACTORD_SOCKET" && $0.key != "XDG_RUNTIME_DIR"
    }
}

/// Where things are that tests run.
package enum Built {
    // because the runner of the tests is a product too, and all of them are in one folder
    private static let folder = (Bundle.main.executableURL ?? Bundle.main.bundleURL)
        .deletingLastPathComponent()

    /// The path of a product of this package.
    package static func product(_ name: String) -> String {
        folder.appending(path: name).path()
    }

    /// The package's own folder.
    package static let root = URL(filePath: #filePath).deletingLastPathComponent()
        .deletingLastPathComponent().deletingLastPathComponent().path()
}
