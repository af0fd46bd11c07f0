import ArgumentParser
import FoundationEssentials
import ReactorDaemon

/// `reactord doctor`: examines a data directory.
struct DoctorCommand<Program: DaemonCommand>: ParsableCommand {
    static var configuration: CommandConfiguration {
        CommandConfiguration(
            commandName: "doctor",
            abstract: "Report damage in a data directory, and salvage the undamaged part.",
            discussion: """
                Does not change the directory. Ends with 0 if there is no damage, and with 78 \
                otherwise: each finding names the file, the row, and the expected and actual content.
                """)
    }

    @Argument(help: "The data directory; no daemon may be using it.")
    var directory: String

    @Option(
        name: .long,
        help: ArgumentHelp(
            "Write the undamaged part into this new directory, from which a daemon can start.",
            valueName: "directory"))
    var salvage: String?

    mutating func run() throws {
        try DaemonOutput<Program>.run {
            let doctor = try HistoryDoctor(of: directory, salvagingInto: salvage)
            try DaemonOutput<Program>.write(doctor.lines)
            guard doctor.isHealthy else { throw ExitCode(78) }
        }
    }
}

/// `reactord restore`: copies a history up to a point in time.
struct RestoreCommand<Program: DaemonCommand>: ParsableCommand {
    static var configuration: CommandConfiguration {
        CommandConfiguration(
            commandName: "restore",
            abstract: "Copy a history up to a revision or a time into a new directory.",
            discussion: """
                Changes nothing in the source. A daemon that names the new directory under `data: \
                directory:` starts from it, in a new epoch. `reactorctl log` and `reactord replay` \
                show the times and the revisions of a history. Actions that the daemon carried out \
                in one turn are restored together or not at all, so the copy may end just before \
                the given revision.
                """)
    }

    @Argument(help: "The backup, or the data directory of a daemon that is not running.")
    var source: String

    @Argument(help: "The new directory; it must not exist yet.")
    var target: String

    @Option(
        name: .long,
        help: ArgumentHelp(
            """
            The last revision, epoch:sequence or a sequence of the last epoch; or the last time, \
            such as 2026-11-24T15:00:00Z. By default everything that is not damaged is copied.
            """, valueName: "revision|time"))
    var until: String?

    mutating func run() throws {
        try DaemonOutput<Program>.run {
            let limit = until.map(Self.limit) ?? .end
            let copy = try RestoredHistory(of: source, upTo: limit, into: target)
            try DaemonOutput<Program>.write([copy.line])
        }
    }

    /// An ISO 8601 time, with or without a fraction of a second; any other text is a revision.
    private static func limit(_ text: String) -> RestoredHistory.Limit {
        for hasFraction in [false, true] {
            let style = Date.ISO8601FormatStyle(includingFractionalSeconds: hasFraction)
            guard let date = try? style.parse(text) else { continue }
            return .time(Int64((date.timeIntervalSince1970 * 1_000).rounded()))
        }
        return .revision(text)
    }
}
