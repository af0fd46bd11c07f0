import ArgumentParser
import CBench

/// Commits rows like a journal's to a bare SQLite database, one at a time: the lower bound for
/// durable actions.
struct CommitsLoad: ParsableCommand {
    static let configuration = CommandConfiguration(commandName: "commits")

    @Option(help: "The data directory whose rows are imitated.")
    var like: String

    @Option(help: "The directory for the database.")
    var directory: String

    @Option(help: "For how long to measure, in seconds.")
    var seconds = 1.0

    func run() throws {
        var row = bench_row()
        var code = bench_row_like("\(like)/journal.sqlite", &row)
        guard code == 0 else { throw LoadError("\(like): SQLite says \(code)") }
        var durations = [UInt64](repeating: 0, count: 1 << 20)
        var count = 0
        code = bench_commits(
            "\(directory)/bare.sqlite", row, UInt64(seconds * 1e9), &durations, durations.count,
            &count)
        guard code == 0 else { throw LoadError("\(directory): SQLite says \(code)") }
        var samples = Samples()
        for duration in durations[..<count] { samples.add(duration) }
        report(
            try samples.summary() + [
                ("rowBytes", Double(row.delta_bytes + row.fact_bytes)),
                ("pageBytes", Double(row.page_bytes)),
            ])
    }
}
