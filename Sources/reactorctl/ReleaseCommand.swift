import ArgumentParser
import ReactorClient
import ReactorWire

/// `reactorctl release`: takes from a connection what it owns at a reactor.
struct ReleaseCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "release",
        abstract: "Take a lock, a claim, a lease or a presence from a connection.",
        discussion: """
            reactorctl release /team/lock 7
            reactorctl release /jobs 7 42

            The reactor decides as if the connection had ended: a lock goes to the next waiter, a \
            claimed job returns to the queue, a leased child without other leases is removed. The \
            connection stays open. `reactorctl get` and `reactorctl clients` show the numbers of \
            connections. For the connection of another user, the access rules must grant `own`.
            """)

    @OptionGroup var connection: ConnectionOptions

    @Argument(help: "The reactor, or the collection of leased children.")
    var path: String

    @Argument(help: "The number of the connection.")
    var owner: UInt64

    @Argument(help: "What it owns: a job's number, a child's key. Default: all that it owns there.")
    var key: String?

    mutating func run() async throws {
        let client = try await connection.connect()
        let (path, owner, key) = (path, owner, key.map { WireKey($0) })
        let outcome = try await Failure.explain(path) { () throws(ClientError) in
            try await client.release(path, of: owner, key: key)
        }
        client.close()
        try Output.result(outcome.json, outcome.failure)
    }
}
