/// A reactor without state that holds others, whose types are known only at run time.
public struct ReactorGroup: Reactor, RecordedUnderName {
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

    public static var documentation: String { "Holds other reactors, and has no state." }

    // Histories have this name, from before the type got its longer one.
    static var recordedName: String { "Group" }

    /// Empty.
    public struct State: Sendable, Equatable {
        /// Makes the empty state.
        public init() {}
    }

    @WireCodable
    struct NoFields: Sendable, Equatable {}
}

// By hand, since the macro would name the form after the type. Histories and older clients know the
// fingerprint of the form under the type's former name.
extension ReactorGroup.State: WireCodable {
    public static var wireSchema: WireSchema {
        .record(.init(name: "Group.State", doc: "Empty.", fields: []))
    }

    public func encode(into writer: inout WireWriter) {
        ReactorGroup.NoFields().encode(into: &writer)
    }

    public static func decode(
        _ bytes: Span<UInt8>, _ cursor: inout WireCursor
    ) throws(WireError) -> Self {
        _ = try ReactorGroup.NoFields.decode(bytes, &cursor)
        return Self()
    }
}
