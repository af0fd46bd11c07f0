public import ReactorCore

// MARK: - Emissions and followers
extension TestStore {
    /// Accounts for the next transaction, in which an effect of the root emitted `mutation`.
    public func receive(
        _ mutation: R.Mutation, _ change: ((inout R.State) -> Void)? = nil,
        fileID: String = #fileID, filePath: String = #filePath, line: Int = #line,
        column: Int = #column
    ) {
        let location = CodeLocation(fileID: fileID, filePath: filePath, line: line, column: column)
        receive(mutation, of: root, change, at: location)
    }

    /// Accounts for the next transaction, in which the child of type `type` at `path` applied
    /// `mutation`, emitted by its effect or decided for a follower.
    public func receive<C: Reactor>(
        _ mutation: C.Mutation, of type: C.Type, at path: String,
        _ change: ((inout C.State) -> Void)? = nil, fileID: String = #fileID,
        filePath: String = #filePath, line: Int = #line, column: Int = #column
    ) {
        let location = CodeLocation(fileID: fileID, filePath: filePath, line: line, column: column)
        guard let node = node(type, at: path, location) else { return }
        receive(mutation, of: node, change, at: location)
    }

    /// Accounts for the next transaction, in which the root applied the follower `action`,
    /// dispatched by the reactor, its middleware, a child or a stream.
    public func receive(
        follower action: R.Action, mutations: [R.Mutation]? = nil,
        _ change: ((inout R.State) -> Void)? = nil, fileID: String = #fileID,
        filePath: String = #filePath, line: Int = #line, column: Int = #column
    ) {
        let location = CodeLocation(fileID: fileID, filePath: filePath, line: line, column: column)
        let text = WireValue.texts(of: action.wireBytes())
        guard let step = next("the follower \(text)", at: location) else { return }
        if step.actions.map({ $0.wireBytes() }) != [action.wireBytes()] {
            report("the follower \(text) was expected, got \(step.text)", at: location)
        }
        account(for: root, mutations, change, after: text, at: location)
    }

    /// Accounts for the next transaction, in which the child of type `type` at `path` applied the
    /// follower `action`, dispatched by any reactor, a plan or a stream.
    public func receive<C: Reactor>(
        follower action: C.Action, of type: C.Type, at path: String,
        mutations: [C.Mutation]? = nil, _ change: ((inout C.State) -> Void)? = nil,
        fileID: String = #fileID, filePath: String = #filePath, line: Int = #line,
        column: Int = #column
    ) {
        let location = CodeLocation(fileID: fileID, filePath: filePath, line: line, column: column)
        guard let node = node(type, at: path, location) else { return }
        let expected = ChildAction(path: node.path, bytes: action.wireBytes())
        guard let step = next("the follower \(expected.text)", at: location) else { return }
        // The follower's decision may have sent actions to further children.
        if !step.actions.isEmpty || !step.childActions.contains(expected) {
            let got =
                step.childActions.isEmpty
                ? step.text
                : step.childActions.map(\.text)
                    .joined(separator: "; ")
            report("the follower \(expected.text) was expected, got \(got)", at: location)
        }
        account(for: node, mutations, change, after: expected.text, at: location)
    }

    /// Accounts for an error without a caller, by a part of its text: an effect that threw, or a
    /// rejected follower.
    public func receive(
        problem part: String, fileID: String = #fileID, filePath: String = #filePath,
        line: Int = #line, column: Int = #column
    ) {
        let location = CodeLocation(fileID: fileID, filePath: filePath, line: line, column: column)
        if pending.takeProblem(containing: part) { return }
        let problems = pending.problems
        let text = problems.isEmpty ? "there were no errors" : problems.joined(separator: "; ")
        report("\"\(part)\" was expected as an error: \(text)", at: location)
    }

    /// Accounts for everything that has happened so far.
    public func skipAll() {
        pending.skipSteps()
        _ = pending.close()
        _ = pending.takeProblems()
    }

    /// Accounts for the next transaction, in which `node` applied `mutation`.
    func receive<C: Reactor>(
        _ mutation: C.Mutation, of node: Node<C>, _ change: ((inout C.State) -> Void)?,
        at location: CodeLocation
    ) {
        let text = WireValue.texts(of: mutation.wireBytes())
        guard let step = next(text, at: location) else { return }
        if !step.actions.isEmpty {
            report(
                "\(text) was expected of an effect, got \(step.text): "
                    + "receive(follower:) accounts for it", at: location)
        }
        account(for: node, [mutation], change, after: text, at: location)
    }

    /// Makes the next transaction the current one, or reports that there is none.
    private func next(_ text: String, at location: CodeLocation) -> TestStep<R>? {
        closeStep(at: location)
        guard let step = pending.openNext() else {
            let running = effects.map { $0.isEmpty ? "one without a name" : $0 }
            let hint =
                running.isEmpty
                ? "no effect runs"
                : "these effects run: \(running.joined(separator: ", ")); the time is "
                    + "\(clock.now.offset)"
            report(
                "\(text) was expected, and there is no further transaction: \(hint)", at: location)
            return nil
        }
        return step
    }
}

// MARK: - Further parts of the current transaction
extension TestStore {
    /// States the complete change of the child of type `type` at `path` in the current
    /// transaction.
    public func expect<C: Reactor>(
        _ type: C.Type, at path: String, mutations: [C.Mutation]? = nil,
        _ change: ((inout C.State) -> Void)? = nil, fileID: String = #fileID,
        filePath: String = #filePath, line: Int = #line, column: Int = #column
    ) {
        let location = CodeLocation(fileID: fileID, filePath: filePath, line: line, column: column)
        guard let node = node(type, at: path, location) else { return }
        let text = pending.current.map(\.text) ?? "nothing"
        account(for: node, mutations, change, after: text, at: location)
    }

    /// States a further change of the root in the current transaction: its reaction to a child's
    /// mutation.
    public func expect(
        mutations: [R.Mutation]? = nil, _ change: ((inout R.State) -> Void)? = nil,
        fileID: String = #fileID, filePath: String = #filePath, line: Int = #line,
        column: Int = #column
    ) {
        let location = CodeLocation(fileID: fileID, filePath: filePath, line: line, column: column)
        let text = pending.current.map(\.text) ?? "nothing"
        account(for: root, mutations, change, after: text, at: location)
    }

    /// States the keys of the collection at `path` after the current transaction, which created
    /// or removed children.
    public func expect(
        children keys: [WireKey], at path: String, fileID: String = #fileID,
        filePath: String = #filePath, line: Int = #line, column: Int = #column
    ) {
        let location = CodeLocation(fileID: fileID, filePath: filePath, line: line, column: column)
        expect(children: keys, at: path, location)
    }

    // Disfavored, so that literals stay the keys of text.
    /// States the keys of the collection at `path` in the collection's own type.
    @_disfavoredOverload
    public func expect<Key: ChildKey>(
        children keys: [Key], at path: String, fileID: String = #fileID,
        filePath: String = #filePath, line: Int = #line, column: Int = #column
    ) {
        let location = CodeLocation(fileID: fileID, filePath: filePath, line: line, column: column)
        expect(children: keys, at: path, location)
    }

    private func expect<Key: ChildKey>(
        children keys: [Key], at path: String, _ location: CodeLocation
    ) {
        guard let node = (try? SlicePath(path)).flatMap({ tree.node(at: $0) }),
            node.isCollection
        else { return report("no collection is at \(path)", at: location) }
        _ = pending.takeChange(of: node)
        let expected = keys.map { WireKey($0.wireKeyText) }
        let got = node.children.keys.compactMap { Key(wireKeyText: $0.text) }
            .sorted(by: Key.isOrdered).map { WireKey($0.wireKeyText) }
        if got != expected {
            report(
                "the children at \(path) are others\n"
                    + Difference(
                        expected: .array(expected.map { .text($0.text) }),
                        got: .array(got.map { .text($0.text) })
                    ).text, at: location)
        }
    }
}

// MARK: - Children by properties
extension TestStore {
    /// The static child behind a property such as `\.$count`.
    public func child<C: Reactor>(_ property: KeyPath<R, ChildHandle<C>>) -> TestChild<R, C> {
        TestChild<R, R>(self, .root).child(property)
    }

    /// The child under `key` in the collection behind a property such as `\.$tabs`.
    public func child<Key: ChildKey, C: Reactor>(
        _ property: KeyPath<R, KeyedHandle<Key, C>>, _ key: Key
    ) -> TestChild<R, C> {
        TestChild<R, R>(self, .root).child(property, key)
    }

    /// States the keys of the collection behind a property after the current transaction, which
    /// created or removed children.
    public func expect<Key: ChildKey, C: Reactor>(
        children keys: [Key], of property: KeyPath<R, KeyedHandle<Key, C>>,
        fileID: String = #fileID, filePath: String = #filePath, line: Int = #line,
        column: Int = #column
    ) {
        TestChild<R, R>(self, .root).expect(
            children: keys, of: property, fileID: fileID, filePath: filePath, line: line,
            column: column)
    }

    // MARK: Derived values

    /// A derived value of the root, with all transactions so far.
    ///
    /// *Traps*: if the root's reactor does not mount it.
    public func value<Value>(of property: KeyPath<R, DerivedHandle<Value>>) -> Value {
        guard let value = TestChild<R, R>(self, .root).value(of: property) else {
            preconditionFailure("the root has no derived value of type \(Value.self) there")
        }
        return value
    }

    /// States the complete change of a derived value of the root in the current transaction.
    public func expect<Value>(
        _ property: KeyPath<R, DerivedHandle<Value>>, _ change: (inout Value) -> Void,
        fileID: String = #fileID, filePath: String = #filePath, line: Int = #line,
        column: Int = #column
    ) {
        TestChild<R, R>(self, .root).expect(
            property, change, fileID: fileID, filePath: filePath, line: line, column: column)
    }
}
