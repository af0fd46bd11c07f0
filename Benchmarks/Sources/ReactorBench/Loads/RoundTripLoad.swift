import ArgumentParser
import Foundation
import ReactorClient
import ReactorCore
import ReactorLoop
import StockReactors

/// One increment at a time: the time from its dispatch to its outcome, on the client's own loop.
struct RoundTripLoad: ParsableCommand {
    static let configuration = CommandConfiguration(commandName: "round-trip")

    @OptionGroup var options: LoadOptions

    @Option(help: "Counters to choose from in turn: 1 is /counter, more are /many/cN.")
    var reactors = 1

    func run() throws {
        let loop = try EventLoop(spin: options.spinDuration)
        let client = try LoopClient.connected(on: loop, options)
        let paths = reactors == 1 ? ["/counter"] : (0..<reactors).map { "/many/c\($0)" }
        let nodes = try client.nodes(at: paths).shuffled()
        let stretch = Stretch(now: loop.now, lasting: options.nanoseconds)
        var samples = Samples()
        var next = 0
        var answer: ActionOutcome?
        let completion: (ActionOutcome) -> Void = { answer = $0 }
        var now = loop.now
        while now < stretch.end {
            let start = now
            answer = nil
            try client.act {
                try $0.dispatch(
                    Counter.Action.increment(by: 1), to: nodes[next], then: completion)
            }
            next = (next + 1) % nodes.count
            while answer == nil { loop.turn(.wait) }
            now = loop.now
            guard case .applied? = answer else {
                throw LoadError("increment: expected applied, got \(String(describing: answer))")
            }
            if start >= stretch.begin { samples.add(now - start) }
        }
        report(try samples.summary())
    }
}

/// One increment at a time, awaited by a task on another thread than the client's, or on the
/// client's executor.
struct AwaitLoad: ParsableCommand {
    static let configuration = CommandConfiguration(commandName: "await")

    @OptionGroup var options: LoadOptions

    @Flag(help: "The task prefers the client's executor.")
    var onExecutor = false

    func run() throws {
        let (options, onExecutor) = (options, onExecutor)
        let done = DispatchSemaphore(value: 0)
        // Detached, because the main thread blocks here and cannot run the task.
        Task.detached {
            do {
                try await measure(onExecutor: onExecutor, options)
            } catch {
                Self.exit(withError: error)
            }
            done.signal()
        }
        done.wait()
    }
}

@concurrent
private func measure(onExecutor: Bool, _ options: LoadOptions) async throws {
    let client = try await Client.connect(to: options.socket, options: options.clientOptions)
    let counter = try await client.mirror(Counter(), at: "/counter")
    let samples = try await withTaskExecutorPreference(onExecutor ? client.executor : nil) {
        let clock = Monotonic()
        let stretch = Stretch(now: clock.now, lasting: options.nanoseconds)
        var samples = Samples()
        var now = clock.now
        while now < stretch.end {
            let start = now
            let outcome = await counter.dispatch(.increment(by: 1))
            now = clock.now
            guard case .applied = outcome else {
                throw LoadError("increment: expected applied, got \(outcome)")
            }
            if start >= stretch.begin { samples.add(now - start) }
        }
        return samples
    }
    client.close()
    report(try samples.summary())
}
