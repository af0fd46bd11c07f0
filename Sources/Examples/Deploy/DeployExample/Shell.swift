import Foundation

/// Runs scripts with `/bin/sh`.
public enum Shell {
    /// The end of a script.
    public struct Result: Equatable, Sendable {
        /// The exit code; 0 is a success.
        public var status: Int32
        /// The lines of standard output and standard error, in order.
        public var lines: [String]
    }

    /// A script that ended with another exit code than 0.
    public struct Failure: Error, Equatable, CustomStringConvertible {
        /// The end of the script.
        public var result: Result

        public var description: String {
            "the script ended with exit code \(result.status): \(result.lines.last ?? "no output")"
        }
    }

    /// Runs `script` to its end, with additional variables in its environment. The cancellation of
    /// the task ends the script and what it has started.
    ///
    /// *Throws*: `CancellationError`, and why no process could start.
    public static func run(
        _ script: String, environment: [String: String] = [:]
    ) async throws -> Result {
        let process = Process()
        let output = Pipe()
        process.executableURL = URL(filePath: "/bin/sh")
        process.arguments = ["-c", script]
        process.environment = ProcessInfo.processInfo.environment
            .merging(environment) { _, new in new }
        process.standardInput = FileHandle.nullDevice
        process.standardOutput = output
        process.standardError = output
        try process.run()
        let pid = process.processIdentifier
        let text = await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                DispatchQueue.global().async {
                    let data = output.fileHandleForReading.readDataToEndOfFile()
                    continuation.resume(returning: String(decoding: data, as: UTF8.self))
                }
            }
        } onCancel: {
            // Foundation gives a process its own group. A daemon blocks SIGTERM, and so do the
            // processes that it starts.
            kill(-pid, SIGKILL)
        }
        process.waitUntilExit()
        try Task.checkCancellation()
        return Result(
            status: process.terminationStatus,
            lines: text.split(separator: "\n").map(String.init))
    }

    /// Runs `script`, and returns its last line.
    ///
    /// *Throws*: ``Failure`` if it ends with another exit code than 0.
    public static func succeed(
        _ script: String, environment: [String: String]
    ) async throws -> String {
        let result = try await run(script, environment: environment)
        guard result.status == 0 else { throw Failure(result: result) }
        return result.lines.last ?? ""
    }
}
