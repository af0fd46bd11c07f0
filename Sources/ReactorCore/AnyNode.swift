public import ReactorBytes

/// A place in the tree: a reactor with its state, or a collection of them.
///
/// *Owner*: the tree's isolation; never used from another thread.
public class AnyNode {
    /// Unique while the tree lives, and in its history; also the id of the node's replica slice.
    public final var number: UInt32 { ownNumber }
    // because a tree that is put back to where its history left it has the numbers of that history
    final var ownNumber: UInt32
    /// Where the node stands.
    public let path: SlicePath
    // because the tree takes its nodes apart when it goes, the cycle does not outlive it
    /// What it stands below; nothing at the root.
    public final let parent: AnyNode?
    /// What stands below it, by name.
    public internal(set) final var children: [WireKey: AnyNode] = [:]
    /// Sequence of the last transaction that changed this node or one below it.
    public final var sequence: UInt64 { changedSequence }
    final var changedSequence: UInt64 = 0
    /// Sequence of the transaction that created the node, 0 for those that were there from the
    /// beginning: what stood at its path before was another.
    public internal(set) final var birthSequence: UInt64 = 0
    /// Whether somebody outside wants to know, once a turn, that the node changed at or below.
    public final var isWatched: Bool {
        get { watched }
        set { watched = newValue }
    }
    private final var watched = false
    /// Whether somebody outside wants each delta of the node.
    public final var isReplicated: Bool {
        get { replicated }
        set { replicated = newValue }
    }
    private final var replicated = false
    /// The turn that listed the node as touched last.
    final var notedTurn: UInt64 = 0
    /// The last error that the reactor had no answer to; gone when it begins anew.
    public internal(set) final var fault: String?
    /// Where the node stands in ``Tree/order``.
    final var orderIndex = 0
    /// The last snapshot that has the node's state, or does not want it.
    final var savedIn: UInt64 = 0
    /// Whether the history has the node's state in the form that it has today.
    final var isKept = false
    /// Whether the node was removed from its tree.
    public final var isGone: Bool { hasLeft }
    final var hasLeft = false
    /// Whether the parent wants to see this node's mutations.
    final let isObservedByParent: Bool
    /// Whether an action has more to pass here than its reactor's own functions: a parent that
    /// reacts, or ``Node/rules``.
    final var takesLongWay: Bool {
        get { longWayPlace.value }
        set { longWayPlace.value = newValue }
    }
    @usableFromInline final let longWayPlace: Place<Bool>

    init(number: UInt32, path: SlicePath, parent: AnyNode?) {
        ownNumber = number
        self.path = path
        self.parent = parent
        isObservedByParent = parent?.isReacting ?? false
        longWayPlace = Place(isObservedByParent)
    }

    /// The last component of the path.
    public final var name: WireKey { path.components.last ?? "" }

    final var childNames: [WireKey] { Array(children.keys) }

    /// Records that the transaction at hand changes this node.
    @usableFromInline
    final func touch(_ turn: Turn) {
        touch(turn, from: self)
    }

    // because a walk up in a loop would count references at every step, and one that calls nothing
    // on the way but itself, at its end, keeps nothing on the stack
    private final func touch(_ turn: Turn, from origin: AnyNode) {
        changedSequence = turn.lastSequence &+ 1
        if watched { return touchWatched(turn, from: origin) }
        parent?.touch(turn, from: origin)
    }

    private final func touchWatched(_ turn: Turn, from origin: AnyNode) {
        // because who shows the value of a node must know which of those below it changed
        if origin.notedTurn != turn.number { turn.note(origin) }
        parent?.touch(turn, from: origin)
    }

    // MARK: For subclasses

    /// Whether the node's reactor reacts to its children's mutations.
    var isReacting: Bool { false }
    /// Whether the node's children stand under keys, and come and go.
    public var isCollection: Bool { false }
    /// Name of the reactor's type.
    public final var reactorName: String { form.name }
    /// What the reactor is known by.
    var form: ReactorForm { ReactorForm(name: "collection", fingerprint: 0) }
    /// Names that the reactor's type had before.
    var formerNames: [String] { [] }
    /// What the reactor is for.
    public var documentation: String { "" }
    /// Fingerprint of the reactor's types: see ``Reactor/fingerprint``.
    public final var fingerprint: UInt64 { form.fingerprint }
    /// What can be sent to it.
    public var actionSchema: WireSchema { NoReply.wireSchema }
    /// What it tells its mirrors.
    public var mutationSchema: WireSchema { NoReply.wireSchema }
    /// What it holds.
    public var stateSchema: WireSchema {
        .record(WireSchema.Record(name: "Collection", fields: []))
    }
    /// What it answers beyond "applied", if it does.
    public var replySchema: WireSchema? { nil }

    /// Whether only the daemon knows what the node shows: a stage of its transform takes time, drops
    /// or multiplies, or a source comes in, so that the state at hand does not say it. A mirror
    /// follows its value then.
    public var isShownByValue: Bool { false }

    /// Decodes one action and carries it out, up to but not including followers.
    @usableFromInline
    func step(
        _ bytes: Span<UInt8>, _ cursor: inout WireCursor, _ turn: Turn
    ) throws(StepFailure) {
        throw .rejected(
            Rejection(.notFound, "\(path) takes no actions: address one of its children"))
    }

    /// Appends the node's own state, without its children.
    public func encodeState(into writer: inout WireWriter) { writer.map(count: 0) }

    /// Appends the state as it is shown to those who do not reduce it themselves.
    func encodePresented(into writer: inout WireWriter) { encodeState(into: &writer) }

    /// Shows the state that the node was put back to.
    func presentRestored(_ turn: Turn) {}

    /// Appends what a replica starts from: the node's own state, or, of a collection, the keys of
    /// its children, which its structural deltas then add to and take from.
    public func encodeReplica(into writer: inout WireWriter) { encodeState(into: &writer) }

    /// What of the node's own state was changed since the last call.
    public func drainChanges() -> StateChanges { .all }

    /// Forgets what was changed here and below: all of it has been shown to everybody concerned.
    public final func settleChanges() {
        _ = drainChanges()
        for child in children.values { child.settleChanges() }
    }

    /// The encoded state that `mutations`, encoded one behind the other, make of an encoded
    /// `state`; the node's own stays as it is.
    ///
    /// *Place*: audits of reducers in tests. *Cost*: decodes and encodes the whole state.
    public func replay(
        _ mutations: Span<UInt8>, on state: Span<UInt8>
    ) throws(WireError) -> [UInt8] {
        var copy: [UInt8] = []
        copy.append(contentsOf: state, 0..<state.count)
        return copy
    }

    /// Appends what stands at `field` of the node's own state.
    func encodeState(at field: ArraySlice<WireKey>, into writer: inout WireWriter) -> WireReach {
        .impossible
    }

    /// A copy of the state, to be encoded on any thread.
    func copyState() -> @Sendable (inout WireWriter) -> Void { { $0.map(count: 0) } }

    /// A copy of the state as it is shown, to be encoded on any thread.
    func copyPresented() -> @Sendable (inout WireWriter) -> Void { copyState() }

    /// A copy of what stands at `field` of the shown state, to be encoded on any thread.
    func copyPresented(
        at field: ArraySlice<WireKey>
    ) -> @Sendable (inout WireWriter) -> WireReach {
        { _ in .impossible }
    }

    /// A copy of what a replica starts from, to be encoded on any thread.
    func copyReplica() -> @Sendable (inout WireWriter) -> Void { copyState() }

    /// Replaces the node's state with an encoded one.
    func restore(_ bytes: Span<UInt8>) throws(WireError) {}

    /// Replaces the node's state with the reactor's initial one.
    func reset() {}

    /// A planned action of the history as today's types write it.
    func readKept(_ action: WireEmbedded) throws(WireError) -> WireEmbedded { action }

    /// Whether the reactor knows how to perform a task.
    func performs(_ task: DurableTask) -> Bool { true }

    /// Reduces the mutations that `bytes` hold from the cursor on.
    func redo(_ bytes: Span<UInt8>, _ cursor: inout WireCursor) throws(WireError) {
        throw WireError(.refused("mutations of a node that has no state"), at: cursor.offset)
    }

    /// Who holds which child, of a collection whose children are leased.
    var leaseBook: LeaseBook? { nil }

    /// Takes note of a change of who holds which child.
    func redo(_ fact: OwnershipFact) {}

    func endConnection(_ owned: Owned, _ turn: Turn) {}

    func react(to change: ChildChange, _ turn: Turn) {}

    /// Lets the reactor decide what it begins with; whether it asked for anything.
    func begin(_ turn: Turn) -> Bool { false }

    /// Performs a durable task.
    func perform(_ task: DurableTask, _ turn: Turn) {}

    /// Begins anew, from the state at hand.
    func restart(_ turn: Turn) {}

    /// Lets the reactor decide what follows from an error of a child.
    func childFailed(_ failure: ChildFailure, _ turn: Turn) {}

    /// An effect of the node has ended.
    func forgetEffect(_ id: EffectID) {}

    /// Tells sagas of other nodes that this one is gone.
    func closeDesk() {}

    // because what waits in middleware holds the node
    /// Forgets the middleware of a node that has left.
    func dropMiddleware() {}

    /// Makes the child under `key` of a collection; `nil` elsewhere.
    func makeChild(_ key: WireKey, number: UInt32) -> AnyNode? { nil }

    /// Mounts the static children.
    func mountChildren(_ tree: Tree) {}
}

// MARK: - The composed value
extension AnyNode {
    /// Appends the state with all children composed into it: what `get` and value slices show.
    public final func encodeValue(into writer: inout WireWriter) {
        guard !children.isEmpty else { return encodePresented(into: &writer) }
        let children = Array(children)
        var own = WireWriter()
        encodePresented(into: &own)
        Self.compose(own, children.map(\.key), into: &writer) { index, writer in
            children[index].value.encodeValue(into: &writer)
        }
    }

    /// Appends the encoded state `own` as a map, with the children called `names` beside its entries.
    static func compose(
        _ own: borrowing WireWriter, _ names: [WireKey], into writer: inout WireWriter,
        child: (_ index: Int, _ writer: inout WireWriter) -> Void
    ) {
        var entries: [(key: WireKey, value: [UInt8])] = own.withBytes { bytes in
            ownEntries(of: bytes)
        }
        for (index, name) in names.enumerated() {
            var value = WireWriter()
            child(index, &value)
            entries.append((name, value.bytes))
        }
        entries.sort { $0.key < $1.key }
        writer.map(count: entries.count)
        for entry in entries {
            writer.text(entry.key.text)
            writer.raw(entry.value)
        }
    }

    /// The pairs of an encoded state; a state that is no map stands under `state`.
    private static func ownEntries(of bytes: Span<UInt8>) -> [(key: WireKey, value: [UInt8])] {
        do throws(WireError) {
            return try entries(of: bytes)
        } catch {
            var whole: [UInt8] = []
            whole.append(contentsOf: bytes, 0..<bytes.count)
            return [(stateKey, whole)]
        }
    }

    /// The key of a state that is no map, among what stands below its node.
    static let stateKey: WireKey = "state"

    /// The pairs of an encoded map.
    static func entries(
        of bytes: Span<UInt8>
    ) throws(WireError) -> [(key: WireKey, value: [UInt8])] {
        var found: [(key: WireKey, value: [UInt8])] = []
        var cursor = WireCursor()
        var map = try cursor.openMap(in: bytes)
        while let name = try cursor.nextName(in: bytes, &map) {
            let start = cursor.offset
            try cursor.skip(in: bytes)
            var value: [UInt8] = []
            value.append(contentsOf: bytes, start..<cursor.offset)
            found.append((WireKey(bytes.text(name)), value))
        }
        return found
    }

    /// Appends the value at `field` below this node; an empty field is the composed value.
    public final func encodeValue(
        at field: ArraySlice<WireKey>, into writer: inout WireWriter
    ) -> WireReach {
        guard let first = field.first else {
            encodeValue(into: &writer)
            return .found
        }
        if let child = children[first] {
            return child.encodeValue(at: field.dropFirst(), into: &writer)
        }
        return encodeState(at: field, into: &writer)
    }
}
