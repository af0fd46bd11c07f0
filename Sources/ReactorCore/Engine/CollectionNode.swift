/// The node between a parent and its keyed children.
final class CollectionNode<Key: ChildKey, R: Reactor>: AnyNode {
    let make: (Key) -> R
    /// Whether two keys of different bytes may be equal.
    private let hasTwins = !((Key.self as? any KeyedKey.Type)?.equalsByText ?? false)
    /// Which connection holds which child; `nil` where the parent creates and removes the children.
    private(set) var leases: LeaseBook?

    init(
        _ make: @escaping (Key) -> R, isLeased: Bool, number: UInt32, path: SlicePath,
        parent: AnyNode
    ) {
        self.make = make
        leases = isLeased ? LeaseBook() : nil
        super.init(number: number, path: path, parent: parent)
    }

    // The children's mutations go to the parent: a collection has no reactor that could react.
    override var isReacting: Bool { parent?.isReacting ?? false }

    override func react(to change: ChildChange, _ turn: Turn) { parent?.react(to: change, turn) }

    override func childrenChanged(_ change: ChildrenChange, _ turn: Turn) {
        parent?.childrenChanged(change, turn)
    }

    override func childFailed(_ failure: ChildFailure, _ turn: Turn) {
        parent?.childFailed(failure, turn)
    }

    package override var isCollection: Bool { true }
    package override var reactorType: (any Reactor.Type)? { R.self }
    package override var describedName: String { R.collectionName }
    package override var mirroredTypes: NodeTypes {
        NodeTypes(
            reactor: R.collectionName, formerNames: R.formerCollectionNames,
            fingerprint: R.fingerprint, state: R.State.wireSchema, byValue: isShownByValue)
    }
    package override var versionedTypes: VersionedTypes { R.versionedTypes }
    package override var childSchema: WireSchema? { R.State.wireSchema }
    package override var hasIntegerKeys: Bool { Self.isInteger(Key.self) }
    package override var actionSchema: WireSchema {
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

    override func endConnection(_ owned: OwnedKeys, _ turn: Turn) {
        for key in owned.keys { endLease(key, owned.connection, turn) }
    }

    // Structural deltas add and remove keys, so a replica must start from the keys that exist. The
    // composed value contains the children themselves.
    package override func encodeReplica(into writer: inout WireWriter) {
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

    /// Whether a key's type, or that of its raw value, is an integer.
    private static func isInteger(_ type: Any.Type) -> Bool {
        if type is any FixedWidthInteger.Type { return true }
        guard let raw = type as? any RawRepresentable.Type else { return false }
        return isRawInteger(raw)
    }

    private static func isRawInteger<Raw: RawRepresentable>(_ type: Raw.Type) -> Bool {
        isInteger(Raw.RawValue.self)
    }

    override func makeChild(_ key: WireKey, number: UInt32) -> AnyNode? {
        guard keyProblem(key) == nil, let typed = Key(wireKeyText: key.text) else { return nil }
        return Node(make(typed), number: number, path: path.appending(key), parent: self)
    }

    package override func keyProblem(_ key: WireKey) -> String? {
        // One child must not have two names, whatever an author's `init(wireKeyText:)` accepts.
        if let typed = Key(wireKeyText: key.text), typed.pathKey == key { return nil }
        return "\(path): \(key.text.quoted()) is no key of this collection, whose keys are "
            + "\(Key.self): expected \(Key.wireKeyKind)"
    }

    override func checkTwin(
        of key: WireKey, after decided: [WireKey: Bool]
    ) throws(Rejection) {
        // Equal strings of different bytes are never ASCII.
        guard hasTwins, !key.text.utf8.allSatisfy({ $0 < 0x80 }),
            let typed = Key(wireKeyText: key.text)
        else { return }
        let isTwin = { (other: WireKey) in other != key && Key(wireKeyText: other.text) == typed }
        let twin =
            children.keys.first { decided[$0] != false && isTwin($0) }
            ?? decided.first { $0.value && isTwin($0.key) }?.key
        guard let twin else { return }
        throw Rejection(
            .path,
            "\(path): \(key.text.quoted()) and the key \(twin.text.quoted()) of a child are one key "
                + "in Swift and have different bytes: use one Unicode form of it")
    }
}

// MARK: - Leases
extension CollectionNode {
    /// Applies a lease or a release, in the current transaction.
    func carryOut(_ action: LeaseAction, _ turn: Turn) throws(Rejection) {
        let connection = turn.transaction.caller.connection
        if turn.undo.isRecording {
            let key = action.key
            if let page = leases?.page(key) {
                turn.undo.add { [self] in leases?.restore(key, page) }
            }
        }
        switch action {
        case .lease(let key, let definesLifecycle):
            try hold(key, connection, definesLifecycle: definesLifecycle, turn)
        case .release(let key):
            guard leases?.isHeld(key, by: connection) ?? false else {
                throw Rejection(
                    "not_leased", "\(path.appending(key)) is not leased by this connection")
            }
            turn.transaction.wishes.request(
                .ownership(.disown(node: number, key: key, connection: connection)))
            endLease(key, connection, turn)
        }
    }

    private func hold(
        _ key: WireKey, _ connection: UInt64, definesLifecycle: Bool, _ turn: Turn
    ) throws(Rejection) {
        let isHeld = leases?.isHeld(key, by: connection) ?? false
        guard isHeld || leases?.hasRoom(for: connection) ?? false else {
            throw Rejection(
                .quota,
                "\(path): \(CoreLimits.leasesPerConnectionMax) leases of a connection, the maximum")
        }
        if children[key] == nil {
            if !definesLifecycle { try checkKept() }
            try checkCreation(of: key, turn.tree.mountedCount)
            try turn.create(key, in: self)
        }
        leases?.hold(key, by: connection, definesLifecycle: definesLifecycle)
        turn.transaction.wishes.request(
            .ownership(
                .own(
                    node: number, key: key, connection: connection,
                    definesLifecycle: definesLifecycle)))
    }

    // Only the parent removes such a child, and it may not know that the child exists.
    private func checkKept() throws(Rejection) {
        let keptCount = children.count - (leases?.definedCount ?? 0)
        guard keptCount >= CoreLimits.keptChildrenMax else { return }
        throw Rejection(
            .quota,
            "\(path): \(keptCount) children outlive their leases, keptChildrenMax is "
                + "\(CoreLimits.keptChildrenMax): lease with definesLifecycle, or have the parent "
                + "remove some")
    }

    /// Ends one connection's lease, and removes the child after the last lease that holds it.
    func endLease(_ key: WireKey, _ connection: UInt64, _ turn: Turn) {
        guard leases?.leave(key, connection) ?? false else { return }
        turn.remove(key, from: self)
    }
}
