import ArgumentParser
import CBench

/// One bare commit of SQLite's at a time, of rows like those of a journal: the floor of what is
/// durable.
struct CommitsLoad: ParsableCommand {
    static let configuration = CommandConfiguration(commandName: "commits")

    @Option(help: "The data directory whose rows it does as.")
    var like: String

    @Option(help: "Where to make a database.")
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
        tell(
            try samples.summary() + [
                ("rowBytes", Double(row.delta_bytes + row.fact_bytes)),
                ("pageBytes", Double(row.page_bytes)),
            ])
    }
}
