import ArgumentParser
import ReactorClient
import ReactorCore
import ReactorLoop
import StockReactors

/// One writer and many mirrors of its counter, until all mirrors show the final state.
struct FanOutLoad: ParsableCommand {
    static let configuration = CommandConfiguration(commandName: "fan-out")

    @OptionGroup var options: LoadOptions

    @Option(help: "Clients with a mirror each.")
    var subscribers = 100

    @Option(help: "Actions that the writer has in flight.")
    var window = 1

    @Option(help: "Total number of actions.")
    var actions = 1_000

    func run() throws {
        let loop = try EventLoop(spin: options.spinDuration)
        let mirrors = try (0..<subscribers).map { _ in
            try LoopClient.connected(on: loop, options).keptAlive().counter(at: "/counter")
        }
        let writer = try LoopClient.connected(on: loop, options)
        let node = try writer.nodes(at: ["/counter"])[0]
        let final = (mirrors.first?.state.count ?? 0) + Int64(actions)
        var sent = 0
        var answered = 0
        var failure: LoadError?
        func send() {
            guard sent < actions, failure == nil else { return }
            sent += 1
            do {
                try writer.act { machine in
                    try machine.dispatch(Counter.Action.increment(by: 1), to: node) { outcome in
                        answered += 1
                        if case .applied = outcome { return send() }
                        failure = LoadError("increment: got \(outcome)")
                    }
                }
            } catch {
                failure = LoadError("increment: \(error)")
            }
        }
        let start = loop.now
        for _ in 0..<min(window, actions) { send() }
        while answered < actions, failure == nil { loop.turn(.wait) }
        if let failure { throw failure }
        for mirror in mirrors {
            while mirror.state.count < final { loop.turn(.wait) }
        }
        let deliveries = Double(subscribers) * Double(actions)
        report([("rate", deliveries * 1e9 / Double(loop.now - start))])
    }
}

extension LoopClient {
    /// Keeps the client until the process ends, because the loop does not retain it.
    func keptAlive() -> LoopClient {
        _ = Unmanaged.passRetained(self)
        return self
    }
}
