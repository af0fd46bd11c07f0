import ArgumentParser
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
