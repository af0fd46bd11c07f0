/// The node between a parent and its keyed children.
final class CollectionNode<R: Reactor>: AnyNode {
    let make: (WireKey) -> R
    /// Which connection holds which child; `nil` where the parent creates and removes the children.
    var leases: LeaseBook?

    init(
        _ make: @escaping (WireKey) -> R, isLeased: Bool, number: UInt32, path: SlicePath,
        parent: AnyNode
    ) {
        self.make = make
        leases = isLeased ? LeaseBook() : nil
        super.init(number: number, path: path, parent: parent)
    }

    // The children's mutations go to the parent: a collection has no reactor that could react.
    override var isReacting: Bool { parent?.isReacting ?? false }

    override func react(to change: ChildChange, _ turn: Turn) { parent?.react(to: change, turn) }

    override func childFailed(_ failure: ChildFailure, _ turn: Turn) {
        parent?.childFailed(failure, turn)
    }

    public override var isCollection: Bool { true }
    public override var actionSchema: WireSchema {
        leases == nil ? super.actionSchema : LeaseAction.wireSchema
    }

    override func step(
        _ bytes: Span<UInt8>, _ cursor: inout WireCursor, _ turn: Turn
    ) throws(StepFailure) {
        guard leases != nil else { return try super.step(bytes, &cursor, turn) }
        let action: LeaseAction
        do throws(WireError) {
            action = try LeaseAction.decode(bytes, &cursor)
            if cursor.offset != bytes.count {
                throw WireError(.trailingBytes(bytes.count - cursor.offset), at: cursor.offset)
            }
        } catch {
            throw .decode(error)
        }
        do throws(Rejection) {
            try carryOut(action, turn)
        } catch {
            throw .rejected(error)
        }
    }

    override var leaseBook: LeaseBook? { leases }

    override func reset() { if leases != nil { leases = LeaseBook() } }

    override func redo(_ fact: OwnershipFact) {
        switch fact {
        case .own(_, let key, let connection, let definesLifecycle):
            leases?.hold(key, by: connection, definesLifecycle: definesLifecycle ?? true)
        case .disown(_, let key, let connection): _ = leases?.leave(key, connection)
        case .end: break
        }
    }

    override func endConnection(_ owned: Owned, _ turn: Turn) {
        for key in owned.keys { end(key, owned.connection, turn) }
    }

    // Structural deltas add and remove keys, so a replica must start from the keys that exist. The
    // composed value contains the children themselves.
    public override func encodeReplica(into writer: inout WireWriter) {
        Self.encode(Array(children.keys), into: &writer)
    }

    override func copyReplica() -> @Sendable (inout WireWriter) -> Void {
        let keys = Array(children.keys)
        return { Self.encode(keys, into: &$0) }
    }

    private static func encode(_ keys: [WireKey], into writer: inout WireWriter) {
        writer.map(count: 1)
        writer.text("keys")
        writer.array(count: keys.count)
        for key in keys.sorted() { writer.text(key.text) }
    }

    override func copyPresented(
        at field: ArraySlice<WireKey>
    ) -> @Sendable (inout WireWriter) -> WireReach {
        { _ in .absent }
    }

    /// Always `absent`: a child without a node now may be created later.
    override func encodeState(
        at field: ArraySlice<WireKey>, into writer: inout WireWriter
    ) -> WireReach {
        .absent
    }

    override func makeChild(_ key: WireKey, number: UInt32) -> AnyNode? {
        Node(make(key), number: number, path: path.appending(key), parent: self)
    }
}

/// A change of the tree, as a structural delta of a collection carries it.
@WireCodable
public enum StructuralChange: Equatable, Sendable {
    /// A child was created as node `number`; `parts` are the nodes created below it.
    case create(key: WireKey, number: UInt32, parts: [NodePlace] = [])
    /// The child and all nodes below it were removed.
    case remove(key: WireKey)
}

/// A reactor without state that holds others, whose types are known only at run time.
public struct Group: Reactor {
    public typealias Action = NoReply
    public typealias Mutation = NoReply

    /// The children, in any order.
    public var members: [(name: WireKey, reactor: any Reactor)]

    /// Holds these reactors, each at its name.
    public init(_ members: [(name: WireKey, reactor: any Reactor)]) { self.members = members }

    public var initialState: State { State() }

    public func children(_ visitor: inout ChildVisitor) {
        for member in members { visitor.child(member.name, member.reactor) }
    }

    public static var documentation: String { "Holds other reactors and no state of its own." }

    /// Empty.
    @WireCodable
    public struct State: Sendable, Equatable {
        /// Makes the empty state.
        public init() {}
    }
}
