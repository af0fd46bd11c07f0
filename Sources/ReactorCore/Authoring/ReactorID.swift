/// Identifies a reactor instance within one history of its daemon, or within one store of a
/// process.
///
/// May be part of a state or a key, to tell a child from an earlier child at the same path.
@WireCodable
public struct ReactorID: Hashable, Sendable {
    /// The epoch of the daemon's tree, which is a random number, or the number of the store, which
    /// counts from 1 in each process.
    public var epoch: UInt64
    /// The node's number, unique within its tree.
    public var node: UInt32

    /// Makes the id of a node in one history.
    public init(epoch: UInt64, node: UInt32) {
        self.epoch = epoch
        self.node = node
    }
}

extension ReactorID: CustomStringConvertible {
    public var description: String { "\(String(epoch, radix: 16))#\(node)" }
}

extension Context {
    /// The reactor's own id.
    public var id: ReactorID {
        turn.askDaemon()
        return ReactorID(epoch: turn.epoch, node: node.number)
    }

    /// The id of a child.
    public func id<Child: Reactor>(of child: ChildHandle<Child>) -> ReactorID {
        turn.askDaemon()
        return ReactorID(epoch: turn.epoch, node: child.node(below: node).number)
    }

    /// The id of the child under `key`, if there is one.
    public func id<Child: Reactor>(of children: KeyedHandle<Child>, _ key: WireKey) -> ReactorID? {
        turn.askDaemon()
        return children.node(below: node, key).map {
            ReactorID(epoch: turn.epoch, node: $0.number)
        }
    }
}

extension Store {
    /// The id of the root reactor.
    public var id: ReactorID { core.tree.id(of: node) }
}
