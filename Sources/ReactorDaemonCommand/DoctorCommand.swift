import ArgumentParser
import ReactorDaemon

/// `reactord doctor`: says what is wrong with a data directory.
struct DoctorCommand<Program: DaemonCommand>: ParsableCommand {
    static var configuration: CommandConfiguration {
        CommandConfiguration(
            commandName: "doctor",
            abstract: "Say what is wrong with a data directory, and salvage what is good.",
            discussion: """
                Changes nothing of it. Ends with 0 where all is well, with 78 where something is \
                damaged: each finding names the file, the row, what was expected and what is there.
                """)
    }

    @Argument(help: "The data directory; no daemon may run in it.")
    var directory: String

    @Option(
        name: .long,
        help: ArgumentHelp(
            "Write what is good into this new directory, from which a daemon can start.",
            valueName: "directory"))
    var salvage: String?

    mutating func run() throws {
        try DaemonVoice<Program>.run {
            let doctor = try HistoryDoctor(of: directory, salvagingInto: salvage)
            try DaemonVoice<Program>.say(doctor.lines)
            guard doctor.isHealthy else { throw ExitCode(78) }
        }
    }
}
