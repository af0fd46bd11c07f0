import ArgumentParser
import ReactorClient

/// What every command has: where the daemon is.
struct ConnectionOptions: ParsableArguments {
    @Option(
        name: .long,
        help: ArgumentHelp(
            "The daemon's socket; without it the usual places are tried.", valueName: "path"))
    var socket: String?

    /// Connects, or says which sockets were tried.
    func connect() async throws(Failure) -> Client {
        var options = ClientOptions(program: "reactorctl")
        options.inFlightMax = 4_096
        return try await Failure.explain { () throws(ClientError) in
            try await Client.connect(to: socket, options: options)
        }
    }
}
