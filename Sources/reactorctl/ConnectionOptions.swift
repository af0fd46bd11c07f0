import ArgumentParser
import ReactorClient

/// What every command has: where the daemon is.
struct ConnectionOptions: ParsableArguments {
    @Option(
        name: .long,
        help: ArgumentHelp(
            "The daemon's socket; without it REACTORD_SOCKET, or the usual places.",
            valueName: "path"))
    var socket: String?

    @Option(
        name: .long,
        help: ArgumentHelp(
            "The daemon's user, where that is neither this one nor root.", valueName: "uid"))
    var daemonUid: UInt32?

    /// Connects, or says which sockets were tried.
    func connect() async throws(Failure) -> Client {
        var options = ClientOptions(program: "reactorctl")
        options.inFlightMax = 4_096
        options.daemonUID = daemonUid
        return try await Failure.explain { () throws(ClientError) in
            try await Client.connect(to: socket, options: options)
        }
    }
}
