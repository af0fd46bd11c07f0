public import ReactorCore

extension Caller {
    /// The default sender of a test's actions.
    public static let tester = Caller(connection: 1, client: 1, uid: 1_000, gid: 1_000, pid: 1)
}

// MARK: - Actions
extension TestStore {
    /// Sends an action to the root, and states its change of the root's state.
    ///
    /// `mutations`, if given, are all mutations that the root decides immediately. Afterwards,
    /// account for changes of children with
    /// ``expect(_:at:mutations:_:fileID:filePath:line:column:)``, and then receive followers and
    /// emissions. Returns the reply, if there is one.
    @discardableResult
    public func send(
        _ action: R.Action, by caller: Caller = .tester, mutations: [R.Mutation]? = nil,
        _ change: ((inout R.State) -> Void)? = nil, fileID: String = #fileID,
        filePath: String = #filePath, line: Int = #line, column: Int = #column
    ) -> R.Reply? {
        let location = CodeLocation(fileID: fileID, filePath: filePath, line: line, column: column)
        return send(action, to: root, by: caller, mutations, change, at: location)
    }

    /// Sends an action to the child of type `type` at `path`, and states its change of the
    /// child's state.
    @discardableResult
    public func send<C: Reactor>(
        _ action: C.Action, to type: C.Type, at path: String, by caller: Caller = .tester,
        mutations: [C.Mutation]? = nil, _ change: ((inout C.State) -> Void)? = nil,
        fileID: String = #fileID, filePath: String = #filePath, line: Int = #line,
        column: Int = #column
    ) -> C.Reply? {
        let location = CodeLocation(fileID: fileID, filePath: filePath, line: line, column: column)
        guard let node = node(type, at: path, location) else { return nil }
        return send(action, to: node, by: caller, mutations, change, at: location)
    }

    /// Sends an action to the root that must be rejected with `code`.
    public func sendRejected(
        _ action: R.Action, _ code: String, by caller: Caller = .tester,
        fileID: String = #fileID, filePath: String = #filePath, line: Int = #line,
        column: Int = #column
    ) {
        let location = CodeLocation(fileID: fileID, filePath: filePath, line: line, column: column)
        sendRejected(action, code, to: root, by: caller, at: location)
    }

    /// Sends an action to `node` that must be rejected with `code`.
    func sendRejected<C: Reactor>(
        _ action: C.Action, _ code: String, to node: Node<C>, by caller: Caller,
        at location: CodeLocation
    ) {
        let text = WireValue.texts(of: action.wireBytes())
        prepare(for: text, at: location)
        switch dispatch(action, to: node, by: caller) {
        case .failed(.rejected(let rejection)):
            if rejection.code != code {
                report("\(text) is rejected, with \(rejection) and not with \(code)", at: location)
            }
        case .failed(.decode(let error)):
            report("\(text) cannot be decoded as an action: \(error)", at: location)
        case .applied(let sequence), .replied(let sequence, _), .accepted(let sequence),
            .deferred(let sequence):
            report("\(text) is applied, and not rejected with \(code)", at: location)
            settle(at: location)
            // The changes of an action that should have been rejected are part of this failure.
            for step in pending.takeSteps(upTo: sequence) { pending.show(step) }
        }
        settle(at: location)
    }

    /// Ends the connection of `caller`; the resulting transactions are to be received.
    public func disconnect(
        _ caller: Caller = .tester, fileID: String = #fileID, filePath: String = #filePath,
        line: Int = #line, column: Int = #column
    ) {
        let location = CodeLocation(fileID: fileID, filePath: filePath, line: line, column: column)
        prepare(for: "the end of connection \(caller.connection)", at: location)
        tree.endConnection(caller.connection)
        settle(at: location)
    }

    /// Sends an action to `node`, and accounts for its change.
    func send<C: Reactor>(
        _ action: C.Action, to node: Node<C>, by caller: Caller, _ mutations: [C.Mutation]?,
        _ change: ((inout C.State) -> Void)?, at location: CodeLocation
    ) -> C.Reply? {
        let text = WireValue.texts(of: action.wireBytes())
        prepare(for: text, at: location)
        var reply: C.Reply?
        let sequence: UInt64
        switch dispatch(action, to: node, by: caller) {
        case .applied(let number), .accepted(let number), .deferred(let number):
            sequence = number
        case .replied(let number, let bytes):
            sequence = number
            reply = try? bytes.decode(as: C.Reply.self)
        case .failed(let failure):
            report("\(text) is not applied: \(failure.reason)", at: location)
            settle(at: location)
            return nil
        }
        settle(at: location)
        pending.open(
            pending.takeSteps(upTo: sequence).last ?? TestStep(sequence: sequence))
        account(for: node, mutations, change, after: text, at: location)
        return reply
    }

    private func dispatch<C: Reactor>(
        _ action: C.Action, to node: Node<C>, by caller: Caller
    ) -> DispatchResult {
        tree.dispatch(
            to: node, action.wireBytes().span, by: caller, ordinal: nextOrdinal())
    }

    /// Reports all changes that the test should have accounted for before `text`.
    private func prepare(for text: String, at location: CodeLocation) {
        closeStep(at: location)
        for step in pending.steps {
            report("the test did not receive \(step.text), before \(text)", at: location)
        }
        pending.skipSteps()
    }
}

extension StepFailure {
    /// The reason why the action was not applied.
    fileprivate var reason: String {
        switch self {
        case .decode(let error): "it cannot be decoded as an action: \(error)"
        case .rejected(let rejection): "rejected, \(rejection)"
        }
    }
}

// MARK: - Accounting
extension TestStore {
    /// Returns the node of type `type` at `path`, or reports a failure.
    func node<C: Reactor>(
        _ type: C.Type, at path: String, _ location: CodeLocation
    ) -> Node<C>? {
        let node = (try? SlicePath(path)).flatMap { tree.node(at: $0) }
        if node == nil { report("no reactor is at \(path)", at: location) }
        guard let node else { return nil }
        guard let typed = node as? Node<C> else {
            report("\(path) is a \(node.reactorName) and no \(type)", at: location)
            return nil
        }
        return typed
    }

    /// Compares the change of the derived value at `node` in the current transaction with the
    /// expected one.
    func account<Value: WireCodable>(
        for node: AnyNode, _ change: (inout Value) -> Void, at location: CodeLocation
    ) {
        let text = pending.current.map(\.text) ?? "nothing"
        let found = pending.takeChange(of: node)
        let before = found?.before ?? StateLedger.state(of: node)
        let after = found?.after ?? before
        do throws(WireError) {
            var expected = try Value(wireBytes: before)
            change(&expected)
            let bytes = expected.wireBytes()
            guard bytes != after else { return }
            report(
                "\(text) led to another derived value \(node.path)\n"
                    + Difference(expected: bytes, got: after).text, at: location)
        } catch {
            report("the derived value \(node.path) cannot be decoded: \(error)", at: location)
        }
    }

    /// Compares the change of `node` in the current transaction with the expected one.
    func account<C: Reactor>(
        for node: Node<C>, _ mutations: [C.Mutation]?, _ change: ((inout C.State) -> Void)?,
        after text: String, at location: CodeLocation
    ) {
        let found = pending.takeChange(of: node)
        if let mutations {
            let expected = mutations.flatMap { $0.wireBytes() }
            let got = found?.mutations ?? []
            if expected != got {
                report(
                    "\(text) led to other mutations of \(node.path)\n(- expected, + got)\n- "
                        + WireValue.texts(of: expected) + "\n+ " + WireValue.texts(of: got),
                    at: location)
            }
        }
        let before = found?.before ?? StateLedger.state(of: node)
        let after = found?.after ?? before
        do throws(WireError) {
            var expected = try C.State(wireBytes: before)
            change?(&expected)
            let bytes = expected.wireBytes()
            guard bytes != after else { return }
            report(
                "\(text) led to another state of \(node.path)\n"
                    + Difference(expected: bytes, got: after).text, at: location)
        } catch {
            report("the state of \(node.path) cannot be decoded: \(error)", at: location)
        }
    }
}
