public import ReactorCore

/// A child of the reactor in a ``TestStore``, addressed by its property.
///
///     let store = TestStore(Search())
///     store.send(.open("a"))
///     store.expect(children: ["a"], of: \.$tabs)
///     let tab = store.child(\.$tabs, "a")
///     tab.send(.increment(by: 2)) { $0.count = 2 }
///
/// The child need not exist yet; a step for a missing child is a failure. The store reports every
/// change of a child that the test did not state, as it does for the root.
///
/// *Owner*: the store's isolation.
public struct TestChild<Root: Reactor, C: Reactor> {
    /// The child's path.
    public let path: SlicePath
    private let store: TestStore<Root>

    init(_ store: TestStore<Root>, _ path: SlicePath) {
        self.store = store
        self.path = path
    }

    /// The child's current state; nil if the child does not exist.
    public var state: C.State? { (store.tree.node(at: path) as? Node<C>)?.state }

    /// Sends an action to the child, and states its change of the child's state: see
    /// ``TestStore/send(_:by:mutations:_:fileID:filePath:line:column:)``.
    @discardableResult
    public func send(
        _ action: C.Action, by caller: Caller = .tester, mutations: [C.Mutation]? = nil,
        _ change: ((inout C.State) -> Void)? = nil, fileID: String = #fileID,
        filePath: String = #filePath, line: Int = #line, column: Int = #column
    ) -> C.Reply? {
        let location = CodeLocation(fileID: fileID, filePath: filePath, line: line, column: column)
        guard let node = store.node(C.self, at: "\(path)", location) else { return nil }
        return store.send(action, to: node, by: caller, mutations, change, at: location)
    }

    /// Sends an action to the child that must be rejected with `code`.
    public func sendRejected(
        _ action: C.Action, _ code: String, by caller: Caller = .tester,
        fileID: String = #fileID, filePath: String = #filePath, line: Int = #line,
        column: Int = #column
    ) {
        let location = CodeLocation(fileID: fileID, filePath: filePath, line: line, column: column)
        guard let node = store.node(C.self, at: "\(path)", location) else { return }
        store.sendRejected(action, code, to: node, by: caller, at: location)
    }

    /// States the complete change of the child in the current transaction.
    public func expect(
        mutations: [C.Mutation]? = nil, _ change: ((inout C.State) -> Void)? = nil,
        fileID: String = #fileID, filePath: String = #filePath, line: Int = #line,
        column: Int = #column
    ) {
        store.expect(
            C.self, at: "\(path)", mutations: mutations, change, fileID: fileID,
            filePath: filePath, line: line, column: column)
    }

    /// Accounts for the next transaction, in which the child applied `mutation`.
    public func receive(
        _ mutation: C.Mutation, _ change: ((inout C.State) -> Void)? = nil,
        fileID: String = #fileID, filePath: String = #filePath, line: Int = #line,
        column: Int = #column
    ) {
        store.receive(
            mutation, of: C.self, at: "\(path)", change, fileID: fileID, filePath: filePath,
            line: line, column: column)
    }

    /// Accounts for the next transaction, in which the child applied the follower `action`,
    /// dispatched by any reactor, a plan or a stream.
    public func receive(
        follower action: C.Action, mutations: [C.Mutation]? = nil,
        _ change: ((inout C.State) -> Void)? = nil, fileID: String = #fileID,
        filePath: String = #filePath, line: Int = #line, column: Int = #column
    ) {
        store.receive(
            follower: action, of: C.self, at: "\(path)", mutations: mutations, change,
            fileID: fileID, filePath: filePath, line: line, column: column)
    }
}

// MARK: - Children by properties
extension TestChild {
    /// The static child of this child behind a property such as `\.$count`.
    public func child<Next: Reactor>(
        _ property: KeyPath<C, ChildHandle<Next>>
    ) -> TestChild<Root, Next> {
        TestChild<Root, Next>(store, place { $0[keyPath: property].name })
    }

    /// The child under `key` in the collection behind a property such as `\.$runs`.
    public func child<Key: ChildKey, Next: Reactor>(
        _ property: KeyPath<C, KeyedHandle<Key, Next>>, _ key: Key
    ) -> TestChild<Root, Next> {
        TestChild<Root, Next>(store, place { $0[keyPath: property].name }.appending(key.pathKey))
    }

    /// States the keys of the collection behind a property of this child after the current
    /// transaction, which created or removed children.
    public func expect<Key: ChildKey, Next: Reactor>(
        children keys: [Key], of property: KeyPath<C, KeyedHandle<Key, Next>>,
        fileID: String = #fileID, filePath: String = #filePath, line: Int = #line,
        column: Int = #column
    ) {
        store.expect(
            children: keys, at: "\(place { $0[keyPath: property].name })", fileID: fileID,
            filePath: filePath, line: line, column: column)
    }

    // MARK: Derived values

    /// A derived value of the child; nil if the child does not exist.
    public func value<Value>(of property: KeyPath<C, DerivedHandle<Value>>) -> Value? {
        derived(property).flatMap { try? Value(wireBytes: StateLedger.state(of: $0)) }
    }

    /// States the complete change of a derived value of the child in the current transaction.
    public func expect<Value>(
        _ property: KeyPath<C, DerivedHandle<Value>>, _ change: (inout Value) -> Void,
        fileID: String = #fileID, filePath: String = #filePath, line: Int = #line,
        column: Int = #column
    ) {
        let location = CodeLocation(fileID: fileID, filePath: filePath, line: line, column: column)
        guard let node = derived(property) else {
            return store.report("no child is at \(path)", at: location)
        }
        store.account(for: node, change, at: location)
    }

    private func derived<Value>(_ property: KeyPath<C, DerivedHandle<Value>>) -> AnyNode? {
        (store.tree.node(at: path) as? Node<C>).flatMap {
            $0.reactor[keyPath: property].shown(below: $0)
        }
    }

    /// The path of what a property of this child names; the path of a missing child leads nowhere.
    private func place(_ name: (C) -> WireKey) -> SlicePath {
        guard let node = store.tree.node(at: path) as? Node<C> else {
            return path.appending("missing")
        }
        return path.appending(name(node.reactor))
    }
}
