import ArgumentParser
import ReactorClient
import ReactorCore
import ReactorLoop
import StockReactors

/// From a dispatch in one client until another client's mirror shows it.
///
/// Each has a loop of its own, as if in a process of its own; one thread and one clock see both
/// ends.
struct VisibleLoad: ParsableCommand {
    static let configuration = CommandConfiguration(commandName: "visible")

    @OptionGroup var options: LoadOptions

    func run() throws {
        let writing = try EventLoop(spin: options.spinDuration)
        let loop = try EventLoop(spin: options.spinDuration)
        let writer = try LoopClient.connected(on: writing, options)
        let reader = try LoopClient.connected(on: loop, options)
        let mirror = try reader.counter(at: "/counter")
        let node = try writer.nodes(at: ["/counter"])[0]
        let stretch = Stretch(now: loop.now, lasting: options.nanoseconds)
        var samples = Samples()
        var answered = 0
        var failure: LoadError?
        let completion: (ActionOutcome) -> Void = { outcome in
            answered += 1
            if case .applied = outcome { return }
            failure = LoadError("increment: expected applied, got \(outcome)")
        }
        var sent = 0
        while loop.now < stretch.end {
            let start = loop.now
            let expected = mirror.state.count + 1
            try writer.dispatch(Counter.Action.increment(by: 1), to: node, then: completion)
            sent += 1
            writer.endTurn()
            while mirror.state.count < expected, failure == nil { loop.turn(.wait) }
            if start >= stretch.begin { samples.add(loop.now - start) }
            while answered < sent { writing.turn(.wait) }
            if let failure { throw failure }
        }
        tell(try samples.summary())
    }
}
