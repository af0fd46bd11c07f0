/// Which reactor: the same only for the same instance, in the same life of its daemon, or in the
/// same store of a process.
///
/// May be part of a state or a key, so that a child is told from one that stood at its path before.
@WireCodable
public struct ReactorID: Hashable, Sendable {
    /// The epoch of the daemon's tree that the reactor is in, which is a random number, or the number
    /// of the store, which count from 1 in each process.
    public var epoch: UInt64
    /// The node's number, unique within its tree.
    public var node: UInt32

    /// Names the reactor in a node, in one history.
    public init(epoch: UInt64, node: UInt32) {
        self.epoch = epoch
        self.node = node
    }
}

extension ReactorID: CustomStringConvertible {
    public var description: String { "\(String(epoch, radix: 16))#\(node)" }
}

extension Context {
    /// Which reactor this is.
    public var id: ReactorID {
        turn.noteDaemonOnly()
        return ReactorID(epoch: turn.epoch, node: node.number)
    }

    /// Which reactor a child is.
    public func id<Child: Reactor>(of child: ChildHandle<Child>) -> ReactorID {
        turn.noteDaemonOnly()
        return ReactorID(epoch: turn.epoch, node: child.node(below: node).number)
    }

    /// Which reactor the child under `key` is, if there is one.
    public func id<Child: Reactor>(of children: KeyedHandle<Child>, _ key: WireKey) -> ReactorID? {
        turn.noteDaemonOnly()
        return children.node(below: node, key).map {
            ReactorID(epoch: turn.epoch, node: $0.number)
        }
    }
}

extension Tree {
    /// Which reactor `node` holds.
    public func id(of node: AnyNode) -> ReactorID {
        ReactorID(epoch: turn.epoch, node: node.number)
    }
}

extension Store {
    /// Which reactor its root is.
    public var id: ReactorID { core.tree.id(of: node) }
}
