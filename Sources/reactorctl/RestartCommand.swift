import ArgumentParser
import ReactorClient
import ReactorWire

/// `reactorctl restart`: makes the daemon hand over to a new process.
struct RestartCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "restart",
        abstract:
            "Make the daemon hand over to a new process of its program, and keep its clients.",
        discussion: """
            Only for the daemon's user and root, and only for a daemon with `data:`. The daemon \
            starts its program again from the path by which it was started, with the same \
            arguments: after an upgrade, that is the new version. The new process takes over the \
            sockets, the connections, the sessions and what connections own. Clients notice \
            nothing, except that effects in progress are lost, and that the few connections whose \
            state cannot be carried over are closed with DRAINING and connect again.

            Prints the new process, and the numbers of connections taken over and closed. If the \
            new process does not serve within the time of --pause, the former one goes on serving.

            Exit codes: 0 the new process serves; 66 the daemon keeps its state in memory; 75 the \
            former process goes on serving.
            """)

    @OptionGroup var connection: ConnectionOptions

    @Option(
        name: .long,
        help: ArgumentHelp(
            """
            The longest time for which clients wait, such as 500ms or 1m. Reading large states \
            takes long.
            """, valueName: "duration"))
    var pause = "5s"

    mutating func validate() throws {
        if DurationText.parse(pause) == nil {
            throw ValidationError("--pause \(pause): expected \(DurationText.expectation)")
        }
    }

    mutating func run() async throws {
        let client = try await connection.connect()
        let pauseMax = UInt64((DurationText.parse(pause) ?? .seconds(5)) / .milliseconds(1))
        let report = try await Failure.explain { () throws(ClientError) in
            try await client.restart(pauseMax: pauseMax)
        }
        client.close()
        if let problem = report.problem {
            throw Failure(
                Failure.unfinishedCode, "process \(report.pid) goes on serving: \(problem)")
        }
        try Output.line(
            WireValue.json(object: [
                "pid": .number(UInt64(clamping: report.pid)), "daemon": .text(report.daemon),
                "connections": .number(report.connections), "closed": .number(report.closed),
            ]))
    }
}
