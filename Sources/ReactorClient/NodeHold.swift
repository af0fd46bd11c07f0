import ReactorThreads

/// Has a node's number stand for its path for as long as somebody holds this.
///
/// *Place*: whoever sends to a node holds one, and so does each action under way: else the number
/// might be another's when the action is sent again. *Owner*: any thread.
package final class NodeHold: Sendable {
    package let node: NodeID
    private let returns: NodeReturns

    init(_ node: NodeID, _ returns: NodeReturns) {
        self.node = node
        self.returns = returns
    }

    deinit { returns.add(node) }

    /// The holder is there still.
    package func keep() {}
}

/// Numbers of nodes on their way back to the client that gave them.
final class NodeReturns: Sendable {
    private let nodes = Guarded<[NodeID]>([])
    private let hasSome = Flag()
    private let mark = ForkMark()

    func add(_ node: NodeID) {
        // because in a forked process the lock is a copy that somebody may hold for ever
        guard mark.isCurrent else { return }
        nodes.withLock { $0.append(node) }
        hasSome.raise()
    }

    func take() -> [NodeID] {
        guard hasSome.take() else { return [] }
        return nodes.withLock { nodes in
            defer { nodes = [] }
            return nodes
        }
    }
}
