import ArgumentParser
import CBench
import Foundation

/// Runs all measures and reports their results.
struct RunCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "run", abstract: "Measures everything; the default.")

    @Option(help: "The reactord to measure.")
    var daemon: String

    @Option(help: "A directory on the disk to measure; by default the current directory.")
    var data = "."

    @Flag(help: "Smaller loads, in under a minute: a check that the measures work.")
    var quick = false

    @Option(help: "Writes the rows to this file too, as JSON.")
    var json: String?

    @Option(help: "Writes a chart to this file.")
    var chart: String?

    @Option(help: "Measures to take, by name; all by default.")
    var only: [String] = []

    @Option(help: "Placements, by name: 'one core', 'two cores', unpinned; all by default.")
    var placement: [String] = []

    func run() throws {
        // A socket's path has at most 107 bytes.
        let directory = try Self.temporaryDirectory(in: "/tmp")
        defer { try? FileManager.default.removeItem(atPath: directory) }
        let dataDirectory = try Self.temporaryDirectory(in: Self.disk(data))
        defer { try? FileManager.default.removeItem(atPath: dataDirectory) }
        var rows: [Row] = []
        var isComplete = true
        for place in Placement.allCases where isAsked(place.rawValue, in: placement) {
            let (own, ownData) = ("\(directory)/\(place)", "\(dataDirectory)/\(place)")
            for path in [own, ownData] {
                try FileManager.default.createDirectory(
                    atPath: path, withIntermediateDirectories: false)
            }
            let bench = try Bench(
                place, quick ? .quick : .full, daemonPath: daemon, in: own, data: ownData)
            for (name, measure) in measures(of: bench) where isAsked(name, in: only) {
                FileHandle.standardError.write(Data("\(place.rawValue): \(name)\n".utf8))
                do {
                    rows += try measure()
                } catch {
                    // One failed measure must not lose the rows of the others.
                    isComplete = false
                    let line = "error: \(place.rawValue): \(name): \(error)\n"
                    FileHandle.standardError.write(Data(line.utf8))
                }
            }
        }
        try report(rows)
        if !isComplete { throw ExitCode.failure }
    }

    private func isAsked(_ name: String, in names: [String]) -> Bool {
        names.isEmpty || names.contains(name)
    }

    private func measures(of bench: Bench) -> [(String, () throws -> [Row])] {
        let always: [(String, () throws -> [Row])] = [
            ("throughput", Throughput(bench: bench).rows),
            ("latency", Latency(bench: bench).rows),
            ("visibility", Visibility(bench: bench).rows),
            ("fan-out", FanOut(bench: bench).rows),
            ("durability", Durability(bench: bench).rows),
            ("snapshot", Pauses(bench: bench).rows),
            ("start", Start(bench: bench).rows),
        ]
        // These compare the daemon with itself, so one placement is enough. On one core only the
        // work itself counts.
        guard bench.placement == .oneCore else { return always }
        return always + [
            ("local", InProcess(bench: bench).rows),
            ("crowd", Crowd(bench: bench).rows),
            ("scale", Scale(bench: bench).rows),
        ]
    }

    private func report(_ rows: [Row]) throws {
        FileHandle.standardOutput.write(Data(Table(rows: rows).text.utf8))
        if let json {
            let data = try JSONSerialization.data(
                withJSONObject: rows.map(\.json), options: [.prettyPrinted, .sortedKeys])
            try data.write(to: URL(fileURLWithPath: json))
        }
        if let chart {
            try Chart(rows: rows).svg.write(toFile: chart, atomically: true, encoding: .utf8)
        }
    }

    static func temporaryDirectory(in parent: String) throws -> String {
        var template = Array("\(parent)/reactor-bench-XXXXXX".utf8CString)
        guard mkdtemp(&template) != nil else {
            throw LoadError("mkdtemp in \(parent): errno \(errno)")
        }
        return String(decoding: template.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }

    /// Refuses a directory in memory, where no commit waits for a disk.
    private static func disk(_ path: String) throws -> String {
        let absolute = URL(fileURLWithPath: path).path
        switch bench_is_in_memory(absolute) {
        case 0: return absolute
        case 1: throw LoadError("\(absolute) is in memory: give --data a directory on a disk")
        default: throw LoadError("statfs of \(absolute): errno \(errno)")
        }
    }
}
