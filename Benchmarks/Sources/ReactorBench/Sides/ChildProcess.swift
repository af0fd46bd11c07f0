import Foundation
import Glibc

/// A process on a core of its own choice, which ends at the latest when this one does.
final class ChildProcess {
    private let process = Process()
    private let input = Pipe()
    private let output = Pipe()
    private let name: String

    /// Starts `command`; its standard error goes to ours.
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

    /// Memory in use, in bytes.
    var residentBytes: Double {
        let path = "/proc/\(process.processIdentifier)/status"
        let status = (try? String(contentsOfFile: path, encoding: .utf8)) ?? ""
        let line = status.split(separator: "\n").first { $0.hasPrefix("VmRSS:") }
        let kibibytes = line?.split(whereSeparator: { $0 == " " || $0 == "\t" }).dropFirst().first
        return (kibibytes.flatMap { Double($0) } ?? 0) * 1_024
    }

    var isRunning: Bool { process.isRunning }

    /// Waits until it writes something.
    func waitForOutput() throws {
        if output.fileHandleForReading.availableData.isEmpty {
            throw LoadError("\(name): ended before it was ready")
        }
    }

    /// Waits for its end and answers what it wrote.
    func finish() throws -> String {
        let data = output.fileHandleForReading.readDataToEndOfFile()
        process.waitUntilExit()
        guard process.terminationStatus == 0 else {
            throw LoadError("\(name): exit code \(process.terminationStatus)")
        }
        return String(decoding: data, as: UTF8.self)
    }

    /// Closes its standard input, by which loads that wait are told to end.
    func endInput() throws {
        try input.fileHandleForWriting.close()
        _ = try finish()
    }

    /// Asks it to end, and waits until it has.
    func terminate() {
        if process.isRunning { process.terminate() }
        process.waitUntilExit()
    }

    /// Ends it at once.
    func kill() {
        if process.isRunning { Glibc.kill(process.processIdentifier, SIGKILL) }
        process.waitUntilExit()
    }
}
