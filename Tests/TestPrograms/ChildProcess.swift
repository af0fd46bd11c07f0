import Foundation
import Glibc
import Synchronization

/// A process started by a test: a built product, or any other program.
///
/// Its output goes to files: a full pipe would block the writer, and a pipe inherited by a
/// sibling never ends.
package final class ChildProcess: Sendable {
    package let pid: Int32
    /// The task that waits for the process's end; several callers may await it.
    private let ending: Task<Ending, Never>
    private let end = End()
    private let directory: TestDirectory
    private let name: String

    /// The way a process ended.
    package enum Ending: Equatable, Sendable {
        case exited(Int32)
        case killed(signal: Int32)
    }

    /// Starts `executable`; its output is stored in `directory` under `name`.
    ///
    /// `environment` is added to that of the tests, without the variables that lead to a daemon
    /// of the developer.
    package init(
        _ executable: String, _ arguments: [String] = [], environment: [String: String] = [:],
        input: String = "", in directory: TestDirectory, name: String
    ) throws {
        self.directory = directory
        self.name = name
        let inputPath = try directory.write(input, to: "\(name).in")
        // A second process with the same name appends to the output of the first.
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

    // A test that fails half-way must not leave its processes behind.
    deinit { if isRunning { kill(pid, SIGKILL) } }

    /// The standard output so far.
    package var output: String { directory.read("\(name).out") }

    /// The standard error so far.
    package var errors: String { directory.read("\(name).err") }

    /// Whether the process has not ended.
    package var isRunning: Bool { !end.hasCome.load(ordering: .acquiring) }

    /// Waits for the end; kills a process that does not end within ``patience``, so that a process
    /// that hangs fails its test in the place of stopping the whole run.
    package func ended() async -> Ending {
        let killing = DispatchWorkItem { [weak self] in self?.signal(SIGKILL) }
        DispatchQueue.global().asyncAfter(deadline: .now() + .seconds(patience), execute: killing)
        defer { killing.cancel() }
        return await ending.value
    }

    /// Waits until the process has written `text` to standard output; false if that takes longer
    /// than ``patience``, or if the process ends before.
    package func says(_ text: String) async -> Bool {
        // Reads once more after the end, for the last output.
        _ = await holds { output.contains(text) || !isRunning }
        return output.contains(text)
    }

    /// Sends a signal, unless the process has ended.
    ///
    /// After SIGSTOP, returns once the process has stopped: until then, its threads on other processors
    /// still run.
    package func signal(_ signal: Int32) {
        guard isRunning, kill(pid, signal) == 0, signal == SIGSTOP else { return }
        Spawn.awaitStop(of: pid)
    }

    // The number of a process that has ended may belong to another process by now.
    private final class End: Sendable {
        let hasCome = Atomic<Bool>(false)
    }

    private static let inherited = ProcessInfo.processInfo.environment.filter {
        $0.key != "REACTORD_SOCKET" && $0.key != "XDG_RUNTIME_DIR"
    }
}

extension TestDirectory {
    /// Copies `file` to `path`, outside of this directory or in it, as a program for every user.
    ///
    /// A separate process writes it: another test's program has a copy of what this process has
    /// open up to its `exec`, and what a process can write cannot be executed.
    package func install(_ file: String, at path: String) async throws {
        let process = try ChildProcess(
            "/usr/bin/install", ["-m", "755", file, path], in: self, name: "install")
        guard await process.ended() == .exited(0) else { throw CocoaError(.fileWriteUnknown) }
    }
}

/// Seconds that a test waits for an expected event; far more than any program needs on a loaded
/// machine.
package let patience = 300

/// Waits until `condition` holds; false if it does not within ``patience``.
///
/// Looks every few milliseconds: tests that run beside this one need the processors.
package func holds(
    isolation: isolated (any Actor)? = #isolation, _ condition: () -> Bool
) async -> Bool {
    let deadline = ContinuousClock.now + .seconds(patience)
    while !condition() {
        if ContinuousClock.now > deadline { return false }
        await withCheckedContinuation { continuation in
            DispatchQueue.global().asyncAfter(deadline: .now() + .milliseconds(2)) {
                continuation.resume()
            }
        }
    }
    return true
}

/// The locations of the tests' products.
package enum Built {
    // The test runner is a product too, and all products are in one folder.
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
