import Foundation
import TestPrograms

/// What a daemon costs the machine, as the kernel says.
extension DaemonProcess {
    /// Numbers of the files that it has open.
    var openDescriptors: [Int] {
        let names = try? FileManager.default.contentsOfDirectory(atPath: "/proc/\(pid)/fd")
        return (names ?? []).compactMap { Int($0) }.sorted()
    }

    /// Processor time that it has used, in ticks of 10 ms.
    var processorTicks: Int? {
        guard let text = try? String(contentsOfFile: "/proc/\(pid)/stat", encoding: .utf8),
            // because the name of a program may hold anything, fields are counted behind it
            let end = text.lastIndex(of: ")")
        else { return nil }
        let fields = text[end...].split(separator: " ")
        guard fields.count > 13, let user = Int(fields[12]), let system = Int(fields[13]) else {
            return nil
        }
        return user + system
    }

    /// Bytes of memory that it has in use.
    var residentBytes: Int? { status("VmRSS:") }

    /// Bytes of memory that it had in use at the most.
    var peakResidentBytes: Int? { status("VmHWM:") }

    private func status(_ field: String) -> Int? {
        guard let text = try? String(contentsOfFile: "/proc/\(pid)/status", encoding: .utf8),
            let line = text.split(separator: "\n").first(where: { $0.hasPrefix(field) })
        else { return nil }
        return line.split(whereSeparator: { !$0.isNumber }).first.flatMap { Int($0) }
            .map { $0 << 10 }
    }

    /// Sets how many files it may have open, and leaves the most that it may ask for.
    func limitDescriptors(to count: Int) async throws {
        let process = try ChildProcess(
            "/usr/bin/prlimit", ["--pid", "\(pid)", "--nofile=\(count):"], in: directory,
            name: "prlimit-\(UUID().uuidString)")
        let ending = await process.ended()
        guard ending == .exited(0) else {
            throw Failure(reason: "keeps its limit: prlimit \(ending)", log: process.errors)
        }
    }

    /// Waits until `condition` holds; whether it did within a minute.
    func comes(to condition: () -> Bool) async -> Bool {
        let deadline = ContinuousClock.now + .seconds(60)
        while !condition() {
            if ContinuousClock.now > deadline { return false }
            await Task.yield()
        }
        return true
    }
}
