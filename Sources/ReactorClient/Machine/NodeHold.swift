import ReactorThreads

/// A node, as a client's connections number it.
public struct NodeID: Hashable, Sendable {
    @usableFromInline let rawValue: UInt32
}

/// Keeps a node's number assigned to its path until the last reference is released.
///
/// *Place*: every sender to a node has a reference, and so has each action without an outcome:
/// otherwise the number might belong to another path when the action is sent again. *Owner*: any
/// thread.
package final class NodeHold: Sendable {
    package let node: NodeID
    private let returns: NodeReturns

    init(_ node: NodeID, _ returns: NodeReturns) {
        self.node = node
        self.returns = returns
    }

    deinit { returns.add(node) }

    /// Does nothing; keeps the reference until here.
    package func keep() {}
}

/// Numbers of nodes on their way back to the client that gave them.
final class NodeReturns: Sendable {
    private let nodes = Guarded<[NodeID]>([])
    private let hasSome = Flag()
    private let mark = ForkMark()

    func add(_ node: NodeID) {
        // In a forked process the lock is a copy, possibly locked, that no thread unlocks.
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
