import Foundation
import Glibc

/// A child process, optionally on a given core, that ends no later than this process.
final class ChildProcess {
    private let process = Process()
    private let input = Pipe()
    private let output = Pipe()
    private let name: String

    /// Starts `command`; it inherits standard error.
    init(_ command: [String], onCore core: Int?) throws {
        name = command.prefix(2).joined(separator: " ")
        var words = ["setpriv", "--pdeathsig", "KILL"]
        if let core { words += ["taskset", "-c", String(core)] }
        process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
        process.arguments = words + command
        process.standardInput = input
        process.standardOutput = output
        try process.run()
    }

    /// Resident memory in bytes.
    var residentBytes: Double {
        let path = "/proc/\(process.processIdentifier)/status"
        let status = (try? String(contentsOfFile: path, encoding: .utf8)) ?? ""
        let line = status.split(separator: "\n").first { $0.hasPrefix("VmRSS:") }
        let kibibytes = line?.split(whereSeparator: { $0 == " " || $0 == "\t" }).dropFirst().first
        return (kibibytes.flatMap { Double($0) } ?? 0) * 1_024
    }

    var isRunning: Bool { process.isRunning }

    /// Waits until the process writes something.
    func waitForOutput() throws {
        if output.fileHandleForReading.availableData.isEmpty {
            throw LoadError("\(name): ended before it was ready")
        }
    }

    /// Waits for the end of the process and returns its output.
    func finish() throws -> String {
        let data = output.fileHandleForReading.readDataToEndOfFile()
        process.waitUntilExit()
        guard process.terminationStatus == 0 else {
            throw LoadError("\(name): exit code \(process.terminationStatus)")
        }
        return String(decoding: data, as: UTF8.self)
    }

    /// Closes the process's standard input, which ends waiting loads.
    func endInput() throws {
        try input.fileHandleForWriting.close()
        _ = try finish()
    }

    /// Sends SIGTERM and waits for the end.
    func terminate() {
        if process.isRunning { process.terminate() }
        process.waitUntilExit()
    }

    /// Sends SIGKILL and waits for the end.
    func kill() {
        if process.isRunning { Glibc.kill(process.processIdentifier, SIGKILL) }
        process.waitUntilExit()
    }
}
