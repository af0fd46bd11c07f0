import ArgumentParser
import ReactorClient
import ReactorWire

/// `reactorctl ping`: checks that a daemon answers, and prints the round-trip time.
struct PingCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "ping",
        abstract: "Check that the daemon answers, and print the round-trip time.")

    @OptionGroup var connection: ConnectionOptions

    mutating func run() async throws {
        let client = try await connection.connect()
        let clock = ContinuousClock()
        let start = clock.now
        try await Failure.explain { () throws(ClientError) in try await client.ping() }
        let elapsed = clock.now - start
        client.close()
        let microseconds =
            elapsed.components.seconds * 1_000_000
            + elapsed.components.attoseconds / 1_000_000_000_000
        try Output.line(
            WireValue.json(object: [
                "socket": .text(client.socketPath), "daemon": .text(client.welcome.daemon),
                "microseconds": .number(UInt64(microseconds)),
            ]))
    }
}
