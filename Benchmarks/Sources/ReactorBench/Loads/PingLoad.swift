import ArgumentParser
import ReactorClient
import ReactorCore
import ReactorLoop
import ReactorWire
import StockReactors

/// One ping at a time, with occasional changes: measures the longest time in which the daemon
/// answers no client.
struct PingLoad: ParsableCommand {
    static let configuration = CommandConfiguration(commandName: "ping")

    @OptionGroup var options: LoadOptions

    @Option(help: "Counters under /many to change one of, at random; 0 for none.")
    var reactors = 0

    @Option(help: "Keys of /map to change one of, at random; 0 for none.")
    var keys = 0

    @Option(help: "Milliseconds between two changes.")
    var interval: UInt64 = 5

    func run() throws {
        let loop = try EventLoop(spin: options.spinDuration)
        let client = try LoopClient.connected(on: loop, options)
        let change = try changing(client)
        let stretch = Stretch(now: loop.now, lasting: options.nanoseconds)
        var pings = Samples()
        var changes = Samples()
        var nextChange: UInt64 = 0
        while loop.now < stretch.end {
            if loop.now >= nextChange {
                nextChange = loop.now + interval * 1_000_000
                let start = loop.now
                try wait(loop) { try change($0) }
                if start >= stretch.begin { changes.add(loop.now - start) }
            }
            let start = loop.now
            // The previous change has its outcome, so no wait for the disk delays the ping.
            try wait(loop) { done in
                client.act { machine in
                    machine.ping { done($0.mapError { LoadError("ping: \($0)") }) }
                }
            }
            if start >= stretch.begin { pings.add(loop.now - start) }
        }
        report(
            try pings.summary()
                + changes.summary().map { ("change.\($0.0)", $0.1) })
    }

    private typealias Done = (Result<Void, LoadError>) -> Void

    /// Returns a function that sends a change.
    private func changing(_ client: LoopClient) throws -> (@escaping Done) throws -> Void {
        let paths =
            keys > 0 ? ["/map"] : (0..<reactors).map { "/many/c\($0)" }.shuffled().prefix(1_000)
        let nodes = try client.nodes(at: Array(paths))
        func told(_ done: @escaping Done) -> (ActionOutcome) -> Void {
            { outcome in
                if case .applied = outcome { return done(.success(())) }
                done(.failure(LoadError("change: expected applied, got \(outcome)")))
            }
        }
        return { done in
            let node = nodes[Int.random(in: nodes.indices)]
            guard keys > 0 else {
                return try client.act {
                    try $0.dispatch(Counter.Action.increment(by: 1), to: node, then: told(done))
                }
            }
            let key = FillLoad.key(Int.random(in: 0..<keys))
            let action = Map.Action.set(key: key, value: .integer(1))
            try client.act { try $0.dispatch(action, to: node, then: told(done)) }
        }
    }

    private func wait(_ loop: EventLoop, _ begin: (@escaping Done) throws -> Void) throws {
        var result: Result<Void, LoadError>?
        try begin { result = $0 }
        while result == nil { loop.turn(.wait) }
        try result?.get()
    }
}
