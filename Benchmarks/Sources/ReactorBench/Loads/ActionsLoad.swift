import ArgumentParser
import ReactorClient
import ReactorCore
import ReactorLoop
import StockReactors

/// Sends increments as fast as the daemon takes them, with a fixed number in flight.
struct ActionsLoad: ParsableCommand {
    static let configuration = CommandConfiguration(commandName: "actions")

    @OptionGroup var options: LoadOptions

    @Option(help: "Actions that each client has in flight.")
    var window = 16

    @Option(help: "Connections, all on one loop.")
    var clients = 1

    @Option(help: "Counters to choose from at random: 1 is /counter, more are /many/cN.")
    var reactors = 1

    @Option(help: "Number of actions to send; 0 for as many as the time allows.")
    var total: UInt64 = 0

    func run() throws {
        let loop = try EventLoop(spin: options.spinDuration)
        let paths = reactors == 1 ? ["/counter"] : (0..<reactors).map { "/many/c\($0)" }
        let senders = try (0..<clients).map { _ in
            let client = try LoopClient.connected(on: loop, options)
            return Sender(client, try client.nodes(at: paths), window)
        }
        let stretch = Stretch(now: loop.now, lasting: options.nanoseconds)
        for sender in senders { try sender.begin() }
        func completed() -> UInt64 { senders.reduce(0) { $0 + $1.count } }

        while total == 0, loop.now < stretch.begin { loop.turn(.wait) }
        let begin = (time: loop.now, count: completed())
        var now = begin.time
        while total == 0 ? now < stretch.end : completed() < total {
            loop.turn(.wait)
            now = loop.now
        }
        let count = completed() - begin.count
        if let failure = senders.lazy.compactMap(\.failure).first { throw failure }
        report([
            ("rate", Double(count) * 1e9 / Double(now - begin.time)),
            ("count", Double(completed())),
        ])
    }
}

/// A client that sends a further action for each outcome.
private final class Sender {
    let client: LoopClient
    let nodes: [NodeID]
    let window: Int
    /// Actions with an outcome so far.
    private(set) var count: UInt64 = 0
    private(set) var failure: LoadError?
    private var random: UInt64 = 0x9E37_79B9_7F4A_7C15
    // Made once: a closure per action would be measured too.
    private lazy var completion: (ActionOutcome) -> Void = { [unowned self] outcome in
        if case .applied = outcome {
            count += 1
            send()
        } else {
            failure = LoadError("increment: expected applied, got \(outcome)")
        }
    }

    init(_ client: LoopClient, _ nodes: [NodeID], _ window: Int) {
        self.client = client
        self.nodes = nodes
        self.window = window
    }

    func begin() throws {
        for _ in 0..<window { send() }
        if let failure { throw failure }
    }

    private func send() {
        do {
            try client.act {
                try $0.dispatch(Counter.Action.increment(by: 1), to: target(), then: completion)
            }
        } catch {
            failure = LoadError("increment: \(error)")
        }
    }

    private func target() -> NodeID {
        guard nodes.count > 1 else { return nodes[0] }
        random ^= random << 13
        random ^= random >> 7
        random ^= random << 17
        return nodes[Int(random % UInt64(nodes.count))]
    }
}
