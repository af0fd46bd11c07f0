import ArgumentParser
import Foundation
import Glibc
import ReactorClient
import ReactorCore
import ReactorLoop
import StockReactors

/// Runs a client in Swift for a number of actions, whose instructions are counted.
struct CountedLoad: ParsableCommand {
    static let configuration = CommandConfiguration(commandName: "counted")

    /// The counted work.
    enum Part: String, ExpressibleByArgument {
        /// One action at a time, awaited by a task.
        case await
        /// The same, by a task on the client's executor.
        case executor
        /// One action at a time, on the client's own loop.
        case one
        /// ``window`` actions at a time, on the client's own loop.
        case window
        /// Deltas in a mirror; writes a byte when it is ready for the next ``window`` of them.
        case mirror
    }

    /// Number of actions sent together.
    static let window = 64

    @Argument(help: "What to do: await, executor, one, window or mirror.")
    var part: Part

    @OptionGroup var options: LoadOptions

    @Option(help: "How many actions.")
    var total = 4_096

    func run() throws {
        switch part {
        case .await: try awaitAll(onExecutor: false)
        case .executor: try awaitAll(onExecutor: true)
        case .one: try dispatch(window: 1)
        case .window: try dispatch(window: Self.window)
        case .mirror: try follow()
        }
    }

    private func awaitAll(onExecutor: Bool) throws {
        let (options, total) = (options, total)
        let done = DispatchSemaphore(value: 0)
        Task.detached {
            do {
                try await dispatchAwaiting(total, onExecutor: onExecutor, options)
            } catch {
                Self.exit(withError: error)
            }
            done.signal()
        }
        done.wait()
    }

    private func dispatch(window: Int) throws {
        let loop = try EventLoop()
        let increments = try Increments(by: LoopClient.connected(on: loop, options))
        for _ in stride(from: 0, to: total, by: window) {
            for _ in 0..<window { try increments.send() }
            try increments.finish()
        }
    }

    private func follow() throws {
        let loop = try EventLoop()
        let client = try LoopClient.connected(on: loop, options)
        let mirror = try client.counter(at: "/counter")
        var asked: Int64 = 0
        while mirror.state.count < total {
            if mirror.state.count == asked {
                asked += Int64(Self.window)
                // The shortest signal to the writer.
                guard write(STDOUT_FILENO, "\n", 1) == 1 else {
                    throw LoadError("write: errno \(errno)")
                }
            }
            loop.turn(.wait)
        }
    }
}

@concurrent
private func dispatchAwaiting(
    _ total: Int, onExecutor: Bool, _ options: LoadOptions
) async throws {
    let client = try await Client.connect(to: options.socket, options: options.clientOptions)
    let counter = try await client.mirror(Counter(), at: "/counter")
    try await withTaskExecutorPreference(onExecutor ? client.executor : nil) {
        for _ in 0..<total {
            guard case .applied = await counter.dispatch(.increment(by: 1)) else {
                throw LoadError("increment: expected applied")
            }
        }
    }
    client.close()
}
