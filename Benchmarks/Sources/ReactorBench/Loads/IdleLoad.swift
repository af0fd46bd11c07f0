import ArgumentParser
import Glibc
import ReactorClient
import ReactorLoop

/// Connections that do nothing until the process is told to end.
struct IdleLoad: ParsableCommand {
    static let configuration = CommandConfiguration(commandName: "idle")

    @OptionGroup var options: LoadOptions

    @Option(help: "How many.")
    var connections = 1_000

    @Flag(help: "Connect to Redis.")
    var redis = false

    @Flag(help: "Follow /counter, and never read what comes.")
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
        tell([("ready", 1)])
        // because the loop is not turned any more, nothing is read from here on
        while readLine() != nil {}
        withExtendedLifetime(sockets) {}
    }
}
