import Glibc
import ReactorClient
import ReactorCore
import ReactorLoop
import StockReactors

extension LoopClient {
    /// Connects, turning the loop until the connection is live.
    static func connected(on loop: EventLoop, _ options: LoadOptions) throws -> LoopClient {
        try connected(on: loop, to: options.socket, options.clientOptions)
    }

    /// Connects to `socket`, turning the loop until the connection is live.
    static func connected(
        on loop: EventLoop, to socket: String,
        _ options: ClientOptions = ClientOptions(program: "reactor-bench")
    ) throws -> LoopClient {
        let client = try LoopClient(on: loop, to: socket, options: options)
        var result: Result<Void, ClientError>?
        client.start { result = $0.map { _ in } }
        try waited(loop) { result }
        return client
    }

    /// Opens the nodes at `paths` and returns their numbers, turning the loop until all are open.
    func nodes(at paths: [String]) throws -> [NodeID] {
        var nodes: [NodeID] = []
        var failure: ClientError?
        // A daemon bounds the number of unanswered requests.
        for start in stride(from: 0, to: paths.count, by: 256) {
            let part = paths[start..<min(start + 256, paths.count)]
            for path in part {
                act { machine in
                    machine.open(path) { result in
                        switch result {
                        case .success(let node): nodes.append(node)
                        case .failure(let error): failure = error
                        }
                    }
                }
            }
            while nodes.count < start + part.count, failure == nil { loop.turn(.wait) }
            if let failure { throw failure }
        }
        return nodes
    }

    /// Mirrors the counter at `path`, turning the loop until the mirror shows the daemon's state.
    func counter(at path: String) throws -> Mirror<Counter> {
        var result: Result<Mirror<Counter>, ClientError>?
        act { $0.mirror(Counter(), at: path) { result = $0 } }
        return try waited(loop) { result }
    }
}

/// Turns `loop` until `result` returns a value.
@discardableResult
private func waited<Value>(
    _ loop: EventLoop, _ result: () -> Result<Value, ClientError>?
) throws -> Value {
    while true {
        if let result = result() { return try result.get() }
        loop.turn(.wait)
    }
}

extension EventLoop {
    /// Runs `body` at the end of every turn, before the turn's output is written.
    func beforeWriting(_ body: @escaping () -> Void) {
        let earlier = onTurnEnd
        onTurnEnd = {
            body()
            earlier?()
        }
    }
}

/// Sends increments of a daemon's counter, and counts their outcomes.
///
/// *Owner*: the thread of the client's loop.
final class Increments {
    private let client: LoopClient
    private let node: NodeID
    private var sent = 0
    private var answered = 0
    private var failure: LoadError?
    // Created once: a closure per action would be measured too.
    private lazy var completion: (ActionOutcome) -> Void = { [unowned self] outcome in
        answered += 1
        if case .applied = outcome { return }
        failure = LoadError("increment: expected applied, got \(outcome)")
    }

    /// Opens the counter, turning the client's loop until it is open.
    init(by client: LoopClient) throws {
        self.client = client
        node = try client.nodes(at: ["/counter"])[0]
    }

    /// Whether an increment was not applied.
    var hasFailed: Bool { failure != nil }

    /// Sends one increment at the end of the turn.
    func send() throws {
        sent += 1
        try client.act {
            try $0.dispatch(Counter.Action.increment(by: 1), to: node, then: completion)
        }
    }

    /// Turns the client's loop until every increment has an outcome. *Throws*: unless all were
    /// applied.
    func finish() throws {
        while answered < sent { client.loop.turn(.wait) }
        if let failure { throw failure }
    }
}
