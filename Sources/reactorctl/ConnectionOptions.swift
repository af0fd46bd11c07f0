import ArgumentParser
import ReactorClient

/// The options of every command: how to reach the daemon.
struct ConnectionOptions: ParsableArguments {
    @Option(
        name: .long,
        help: ArgumentHelp(
            "The daemon's socket; by default REACTORD_SOCKET, or the first usual path that accepts.",
            valueName: "path"))
    var socket: String?

    @Option(
        name: .long,
        help: ArgumentHelp(
            "The daemon's user, if neither this user nor root.", valueName: "uid"))
    var daemonUid: UInt32?

    /// Connects; the error lists the tried sockets.
    func connect() async throws(Failure) -> Client {
        var options = ClientOptions(program: "reactorctl")
        options.inFlightMax = 4_096
        options.daemonUID = daemonUid
        return try await Failure.explain { () throws(ClientError) in
            try await Client.connect(to: socket, options: options)
        }
    }
}
