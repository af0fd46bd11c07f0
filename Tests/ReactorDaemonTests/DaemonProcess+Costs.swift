import Foundation
import TestPrograms

/// The daemon's use of resources, as reported by the kernel.
extension DaemonProcess {
    /// Numbers of the open descriptors.
    var openDescriptors: [Int] {
        let names = try? FileManager.default.contentsOfDirectory(atPath: "/proc/\(pid)/fd")
        return (names ?? []).compactMap { Int($0) }.sorted()
    }

    /// Processor time used, in ticks of 10 ms.
    var processorTicks: Int? {
        guard let text = try? String(contentsOfFile: "/proc/\(pid)/stat", encoding: .utf8),
            // The program's name may contain any character, so fields are counted after it.
            let end = text.lastIndex(of: ")")
        else { return nil }
        let fields = text[end...].split(separator: " ")
        guard fields.count > 13, let user = Int(fields[12]), let system = Int(fields[13]) else {
            return nil
        }
        return user + system
    }

    /// Resident memory in bytes.
    var residentBytes: Int? { status("VmRSS:") }

    /// Peak resident memory in bytes.
    var peakResidentBytes: Int? { status("VmHWM:") }

    private func status(_ field: String) -> Int? {
        guard let text = try? String(contentsOfFile: "/proc/\(pid)/status", encoding: .utf8),
            let line = text.split(separator: "\n").first(where: { $0.hasPrefix(field) })
        else { return nil }
        return line.split(whereSeparator: { !$0.isNumber }).first.flatMap { Int($0) }
            .map { $0 << 10 }
    }

    /// Sets the soft limit of open files, and keeps the hard limit.
    func limitDescriptors(to count: Int) async throws {
        let process = try ChildProcess(
            "/usr/bin/prlimit", ["--pid", "\(pid)", "--nofile=\(count):"], in: directory,
            name: "prlimit-\(UUID().uuidString)")
        let ending = await process.ended()
        guard ending == .exited(0) else {
            throw Failure(reason: "keeps its limit: prlimit \(ending)", log: process.errors)
        }
    }
}
