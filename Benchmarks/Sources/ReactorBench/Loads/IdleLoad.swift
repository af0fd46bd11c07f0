import ArgumentParser
import Glibc
import ReactorClient
import ReactorLoop

/// Connections without traffic, until the process reads the end of its input.
struct IdleLoad: ParsableCommand {
    static let configuration = CommandConfiguration(commandName: "idle")

    @OptionGroup var options: LoadOptions

    @Option(help: "Number of connections.")
    var connections = 1_000

    @Flag(help: "Connect to Redis.")
    var redis = false

    @Flag(help: "Subscribe to /counter, and never read.")
    var stuck = false

    func run() throws {
        let loop = try EventLoop()
        var sockets: [RawSocket] = []
        for _ in 0..<connections {
            if redis {
                let socket = try RawSocket(connectingTo: options.socket)
                try socket.send(RedisCommand.ping)
                try socket.receiveLine()
                sockets.append(socket)
            } else {
                let client = try LoopClient.connected(on: loop, options).keptAlive()
                if stuck { _ = try client.counter(at: "/counter") }
            }
        }
        report([("ready", 1)])
        // The loop no longer turns, so nothing is read from here on.
        while readLine() != nil {}
        withExtendedLifetime(sockets) {}
    }
}
