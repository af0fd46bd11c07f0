import ArgumentParser
import Foundation

/// Counts the instructions of actions and deltas, and compares them with committed figures.
struct InstructionsCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "instructions",
        abstract: "Counts instructions per action and per delivery, by callgrind.")

    @Option(help: "The reactord to count in: a release build; symbols are allowed.")
    var daemon: String

    @Option(help: "This program: a release build; symbols are allowed.")
    var program: String

    @Option(help: "The committed figures, as JSON.")
    var committed: String

    @Flag(help: "Fails if a figure is more than 5 % above the committed one.")
    var check = false

    @Flag(help: "Commits the figures: writes them to the file of --committed.")
    var write = false

    @Flag(help: "Counts in Redis as well.")
    var redis = false

    @Option(help: "Keeps the profiles in this directory, for callgrind_annotate.")
    var profiles: String?

    @Option(help: "Counts the figures with this text in their names; by default all.")
    var only: [String] = []

    /// Maximum ratio of a figure to the committed one.
    private static let toleranceMax = 1.05
    /// Maximum ratio of a figure with access rules to the same figure without. The aim is 1.03; two
    /// counts of the same deliveries differ by up to 2 %.
    private static let rulesRatioMax = 1.05
    /// Maximum number of counts of a figure that is above its limit.
    private static let attemptsMax = 3

    func run() throws {
        // The path of a socket has 107 bytes at most.
        let directory = try RunCommand.temporaryDirectory(in: "/tmp")
        defer { try? FileManager.default.removeItem(atPath: directory) }
        let counts = InstructionCounts(
            daemon: daemon, program: program, directory: directory,
            profiles: profiles ?? directory, countsRedis: redis)
        var figures = try figures()
        var rows: [Row] = []
        var failures: [String] = []
        for (name, count) in counts.all where only.isEmpty || only.contains(where: name.contains) {
            var row = try count()
            if check, let figure = figures[name] {
                let limit = figure * Self.toleranceMax
                row = try leastRow(row, limit: limit, count)
                if row.ours > limit {
                    failures.append(
                        "\(name): \(Int(row.ours).grouped) instructions, committed are"
                            + " \(Int(figure).grouped)")
                }
            } else if check {
                failures.append("\(name): no figure is committed")
            }
            rows.append(row)
            figures[name] = row.ours.rounded()
        }
        if check { failures += rulesFailures(in: rows) }
        FileHandle.standardOutput.write(Data(Table(rows: rows).text.utf8))
        if write { try commit(figures) }
        guard check, !failures.isEmpty else { return }
        for failure in failures {
            FileHandle.standardError.write(Data("error: \(failure)\n".utf8))
        }
        FileHandle.standardError.write(
            Data("if that is meant: Benchmarks/instructions --write, and commit the file\n".utf8))
        throw ExitCode.failure
    }

    /// The rows with access rules that cost too much more than the same rows without, if both were
    /// counted.
    private func rulesFailures(in rows: [Row]) -> [String] {
        rows.compactMap { row in
            let name = row.measure.replacing(InstructionCounts.ruledText, with: "")
            guard name != row.measure, let base = rows.first(where: { $0.measure == name }),
                row.ours > base.ours * Self.rulesRatioMax
            else { return nil }
            return "\(row.measure): \(Int(row.ours).grouped) instructions, without rules"
                + " \(Int(base.ours).grouped): more than 5 % above"
        }
    }

    /// Counts again while a row is above `limit`.
    ///
    /// On a busy machine an answer may arrive after its reader has polled for it, and the reader
    /// polls once more. Such chance only adds to a count.
    private func leastRow(_ first: Row, limit: Double, _ count: () throws -> Row) throws -> Row {
        var least = first
        var attempts = 1
        while least.ours > limit, attempts < Self.attemptsMax {
            let row = try count()
            if row.ours < least.ours { least = row }
            attempts += 1
        }
        return least
    }

    private func figures() throws -> [String: Double] {
        guard FileManager.default.fileExists(atPath: committed) else { return [:] }
        let data = try Data(contentsOf: URL(fileURLWithPath: committed))
        return try JSONDecoder().decode([String: Double].self, from: data)
    }

    private func commit(_ figures: [String: Double]) throws {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.prettyPrinted, .sortedKeys]
        var data = try encoder.encode(figures.mapValues { Int($0) })
        data.append(contentsOf: "\n".utf8)
        try data.write(to: URL(fileURLWithPath: committed))
    }
}
