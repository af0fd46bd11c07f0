import ArgumentParser
import ReactorClient
import ReactorCore
import ReactorLoop
import StockReactors

/// The time from a dispatch in one client until another client's mirror shows the change.
///
/// The clients have separate loops, like two processes. One thread runs both, so one clock measures
/// the whole time.
struct VisibleLoad: ParsableCommand {
    static let configuration = CommandConfiguration(commandName: "visible")

    @OptionGroup var options: LoadOptions

    @Option(help: "The socket of the mirrors, which may be another daemon's of the same cluster.")
    var reader: String?

    @Option(help: "Clients with a mirror each; the time ends when all of them show the change.")
    var mirrors = 1

    func run() throws {
        let writing = try EventLoop(spin: options.spinDuration)
        let loop = try EventLoop(spin: options.spinDuration)
        let writer = try LoopClient.connected(on: writing, options)
        let shown = try (0..<mirrors).map { _ in
            try LoopClient.connected(
                on: loop, to: reader ?? options.socket, options.clientOptions
            ).keptAlive().counter(at: "/counter")
        }
        let increments = try Increments(by: writer)
        let stretch = Stretch(now: loop.now, lasting: options.nanoseconds)
        var samples = Samples()
        while loop.now < stretch.end {
            let start = loop.now
            let expected = shown[0].state.count + 1
            try increments.send()
            writer.endTurn()
            for mirror in shown {
                while mirror.state.count < expected, !increments.hasFailed { loop.turn(.wait) }
            }
            if start >= stretch.begin { samples.add(loop.now - start) }
            try increments.finish()
        }
        report(try samples.summary())
    }
}
