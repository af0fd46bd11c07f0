import ReactorThreads

/// The number that stands for a node on a client's connections.
public struct NodeID: Hashable, Sendable {
    @usableFromInline let rawValue: UInt32
}

/// Keeps a node's number assigned to its path until the last reference is released.
///
/// *Place*: every sender to a node has a reference, and so has each action without an outcome.
/// Without one, the number might mean another path when the action is sent again. *Owner*: any
/// thread.
package final class NodeHold: Sendable {
    package let node: NodeID
    private let returns: NodeReturns

    init(_ node: NodeID, _ returns: NodeReturns) {
        self.node = node
        self.returns = returns
    }

    deinit { returns.add(node) }

    /// Does nothing; keeps the reference alive up to the call.
    package func keep() {}
}

/// Numbers of nodes that other threads have released, for the client's thread to collect.
final class NodeReturns: Sendable {
    private let nodes = Guarded<[NodeID]>([])
    private let hasSome = Flag()
    private let mark = ForkMark()

    func add(_ node: NodeID) {
        // In a forked process the lock is a copy that may stay locked forever.
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
