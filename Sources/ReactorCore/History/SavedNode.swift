/// A node as it stood at one revision, to be encoded on any thread.
public struct SavedNode: Sendable {
    /// Where it stands, and when it changed.
    public let head: NodeHead
    // because a copy of a state shares what is not changed afterwards, and encoding it takes long
    let encodeState: @Sendable (inout WireWriter) -> Void

    /// Appends what ``TreeRecovery`` restores the node from.
    public func encode(into writer: inout WireWriter) {
        head.encode(into: &writer)
        var state = WireWriter()
        encodeState(&state)
        state.withBytes { writer.byteString($0) }
    }
}

/// What a snapshot knows of a node besides its state.
@WireCodable
public struct NodeHead: Equatable, Sendable {
    /// ``AnyNode/number``.
    public var number: UInt32
    /// The number of what it stands below; its own at the root.
    public var parent: UInt32
    /// Its name there.
    public var name: WireKey
    /// Sequence of the transaction that created it.
    public var birth: UInt64
    /// Sequence of the last transaction that changed it or one below it.
    public var sequence: UInt64
    /// The fingerprint of its types.
    public var fingerprint: UInt64
    /// ``AnyNode/reactorName``; empty in histories that do not tell it.
    public var reactor: String = ""
}
