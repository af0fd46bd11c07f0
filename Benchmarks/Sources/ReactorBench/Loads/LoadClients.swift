import Glibc
import ReactorClient
import ReactorCore
import ReactorLoop
import StockReactors

extension LoopClient {
    /// Connects, turning the loop until it is done.
    static func connected(on loop: EventLoop, _ options: LoadOptions) throws -> LoopClient {
        try connected(on: loop, to: options.socket, options.clientOptions)
    }

    /// Connects to `socket`, turning the loop until it is done.
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

    /// Numbers of the nodes at `paths`, turning the loop until all are there.
    func nodes(at paths: [String]) throws -> [NodeID] {
        var nodes: [NodeID] = []
        var failure: ClientError?
        // because a daemon bounds how much may be asked at once
        for start in stride(from: 0, to: paths.count, by: 256) {
            let part = paths[start..<min(start + 256, paths.count)]
            for path in part {
                open(path) { result in
                    switch result {
                    case .success(let node): nodes.append(node)
                    case .failure(let error): failure = error
                    }
                }
            }
            while nodes.count < start + part.count, failure == nil { loop.turn(.wait) }
            if let failure { throw failure }
        }
        return nodes
    }

    /// A mirror of the counter at `path`, turning the loop until it shows the daemon's state.
    func counter(at path: String) throws -> Mirror<Counter> {
        var result: Result<Mirror<Counter>, ClientError>?
        mirror(Counter(), at: path) { result = $0 }
        return try waited(loop) { result }
    }
}

/// Turns `loop` until `result` answers.
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
    /// Runs `body` at the end of every turn, before what the turn caused is written.
    func beforeWriting(_ body: @escaping () -> Void) {
        let earlier = onTurnEnd
        onTurnEnd = {
            body()
            earlier?()
        }
    }
}
