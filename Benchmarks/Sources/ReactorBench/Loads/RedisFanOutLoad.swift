import ArgumentParser
import ReactorLoop

/// One publisher and many subscribers, until all have received all messages.
///
/// Subscribers count bytes without parsing them, which is less work than a real subscriber does.
struct RedisFanOutLoad: ParsableCommand {
    static let configuration = CommandConfiguration(commandName: "redis-fan-out")

    @OptionGroup var options: LoadOptions

    @Option(help: "Subscribers.")
    var subscribers = 100

    @Option(help: "Messages that the publisher has in flight.")
    var window = 1

    @Option(help: "Total number of messages.")
    var actions = 1_000

    func run() throws {
        let loop = try EventLoop(spin: options.spinDuration)
        let address = try UnixAddress(options.socket)
        let subscribe = RedisCommand.subscribe
        var received = 0
        var connections: [Connection] = []
        for _ in 0..<subscribers {
            let connection = try Connection.connect(to: address, on: loop)
            connection.onBytes = { received += $0.count }
            connection.resumeReading()
            connection.write(subscribe.span)
            connections.append(connection)
            // The number of connections that may wait for acceptance is limited.
            let subscribed = connections.count * RedisCommand.subscribedByteCount
            while received < subscribed { loop.turn(.wait) }
        }

        let publisher = try Connection.connect(to: address, on: loop)
        var sent = 0
        var answered = 0
        publisher.onBytes = { bytes in
            for index in 0..<bytes.count where bytes[index] == 10 { answered += 1 }
        }
        publisher.resumeReading()
        received = 0
        let total = subscribers * actions * RedisCommand.messageByteCount
        let start = loop.now
        while received < total {
            var commands: [UInt8] = []
            while sent < actions, sent - answered < window {
                commands += RedisCommand.publish
                sent += 1
            }
            if !commands.isEmpty { publisher.write(commands.span) }
            loop.turn(.wait)
        }
        let deliveries = Double(subscribers) * Double(actions)
        report([("rate", deliveries * 1e9 / Double(loop.now - start))])
    }
}
