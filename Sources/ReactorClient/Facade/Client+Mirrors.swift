public import ReactorCore
import ReactorThreads

// MARK: - Mirrors
extension Client {
    /// Mirrors the node at `path`, which is of type `type`; returns once the mirror shows the
    /// daemon's state. The same path and type give the same mirror while a reference to it exists;
    /// with the last reference the client stops following the node.
    ///
    /// `missing` and the errors are those of the function that takes an instance.
    public func mirror<R: MirrorableReactor>(
        _ type: R.Type, at path: String, missing: MissingFields = .fail
    ) async throws(ClientError) -> Mirror<R> {
        try await mirror(R.makeForMirror(), at: path, missing: missing)
    }

    /// Mirrors the node at `path` by an instance of its type, for a type whose initialiser needs
    /// arguments.
    ///
    /// `reactor` runs `reduce` and `transform(state:)` on the client's thread. For previews, it
    /// also runs `mutate` and the other transforms on each thread that reads the mirror or sends
    /// through it: see ``Mirror/send(_:isPreviewed:cancel:)``.
    ///
    /// If the daemon's reactor has the same name and other types, it is of an earlier or a later
    /// version: the mirror follows the value instead of the mutations, and ``Mirror/phase`` is
    /// ``ClientPhase/differing(_:)``. It skips fields that `State` lacks; `missing` says what becomes
    /// of fields that the daemon lacks.
    /// *Throws*: ``ClientError/otherReactor(path:expected:actual:)`` if the daemon has a reactor of
    /// another name there, which is in neither type's `formerNames`, whatever its fields;
    /// ``ClientError/incompatible(path:_:)``, which names the field, if the daemon's value cannot be
    /// shown as a `State`.
    public func mirror<R: Reactor>(
        _ reactor: sending R, at path: String, missing: MissingFields = .fail
    ) async throws(ClientError) -> Mirror<R> {
        let port = port
        let reactor = Confined(reactor)
        let hold = try await node(at: path)
        return try await ask { client, then in
            client.mirror(
                reactor.open(), at: path, missing: missing, port: port, hold, then: then)
        }
    }

    /// Mirrors the value of any slice, at the path of a node or a path into its state, as a type of
    /// its shape, whatever reactor it belongs to; returns once there is a value.
    ///
    ///     let theme = try await client.mirror(value: String.self, at: "/settings/entries/theme")
    ///
    /// The value of a node contains the values of its children. The same path and type give the
    /// same mirror while a reference to it exists.
    /// *Throws*: ``ClientError/incompatible(path:_:)``, which names the field, if the value lacks a
    /// field of the type, even a field with a default, or has a field that the type lacks.
    public func mirror<Value: WireCodable & Sendable>(
        value type: Value.Type, at path: String
    ) async throws(ClientError) -> ValueMirror<Value> {
        try await ask { client, then in client.mirror(value: type, at: path, then: then) }
    }

    /// Lends the states of several mirrors of this client, all at one revision. Every change of one
    /// of the states wakes observers, as a read of ``Mirror/state`` does.
    ///
    /// *Traps*: with mirrors of different clients.
    public func read<First: Reactor, each Other: Reactor, Result, Failure: Error>(
        _ first: Mirror<First>, _ other: repeat Mirror<each Other>,
        in body: (First.State, repeat (each Other).State) throws(Failure) -> Result
    ) throws(Failure) -> Result {
        let shared = first.shared
        first.changed.access()
        for (owner, changed) in repeat ((each other).shared, (each other).changed) {
            precondition(owner === shared, "mirrors of different clients share no revision")
            changed.access()
        }
        let (firstState, states) = shared.lock.withLock {
            (
                first.replica.whileLocked { $0.shown },
                (repeat (each other).replica.whileLocked { $0.shown })
            )
        }
        return try body(firstState, repeat each states)
    }

    /// Returns a hold on the node at `path`; asks the daemon for the node's number if it is not
    /// known.
    func node(at path: String) async throws(ClientError) -> NodeHold {
        try await ask { client, then in
            client.hold(path, then: then)
        }
    }

    // MARK: By properties

    /// Mirrors the nested reactor at a path of properties:
    ///
    ///     let visits = try await client.mirror(ReactorPath(Shop.self).child(\.$visits))
    ///
    /// `text` is the same path in text, for a caller that knows both; the two are compared.
    /// *Throws*: ``ClientError/otherPath(_:)`` where the two differ,
    /// ``ClientError/otherReactor(path:expected:actual:)`` where the daemon has another reactor
    /// there, and as for a mirror.
    public func mirror<R: Reactor>(
        _ path: ReactorPath<R>, at text: String? = nil, missing: MissingFields = .fail
    ) async throws(ClientError) -> Mirror<R> {
        if let text {
            do throws(ReactorPathMismatch) {
                try path.check(text)
            } catch {
                throw .otherPath(error)
            }
        }
        return try await mirror(path.make(), at: path.path.description, missing: missing)
    }

    /// Returns a hold on the node at `path`.
    ///
    /// *Throws*: ``ClientError/otherReactor(path:expected:actual:)`` if the daemon's reactor there
    /// is called by none of `names`, today's first, and none of its former names is today's.
    func node(at path: String, called names: [String]) async throws(ClientError) -> NodeHold {
        let hold = try await node(at: path)
        let name = try await ask { client, then in
            then(.success(client.reactorName(of: hold.node)))
        }
        if names.contains(name) { return hold }
        // Former names of the daemon's reactor are asked for only then: a daemon that is too old
        // for the question has a reactor whose name this client does not know.
        guard let types: NodeTypes = try? await decoded(.types(path: path)),
            types.formerNames.contains(names[0])
        else { throw .otherReactor(path: path, expected: names[0], actual: name) }
        return hold
    }

    // MARK: Derived values

    /// Mirrors the derived value at `path`, which is of type `type`; returns once the mirror shows
    /// the daemon's value.
    ///
    ///     let stats = try await client.mirror(derived: RunStats.self, at: "/stats")
    ///     print(stats.running, stats.state)
    ///
    /// The daemon sends the value itself, at the revision of the mirrors of what it is computed
    /// from. Previews of this client do not change it.
    /// *Throws*: as for another mirror; ``ClientError/incompatible(path:_:)`` if the value cannot
    /// be read.
    public func mirror<Value>(
        derived type: Value.Type, at path: String
    ) async throws(ClientError) -> Mirror<DerivedValue<Value>>
    where Value: WireCodable & Equatable & Sendable {
        let hold = try await node(at: path, called: [DerivedValue<Value>.reactorName])
        defer { withExtendedLifetime(hold) {} }
        // A mirror starts with a state, and `Value` need not have one.
        let found = try await get(path)
        let first: Value
        do throws(WireError) {
            guard let value = found.value else {
                throw WireError(.mismatch(expected: "a derived value", got: "nothing"), at: 0)
            }
            first = try Value(wireBytes: value.wireBytes())
        } catch {
            throw .incompatible(path: path, error)
        }
        return try await mirror(DerivedValue(first), at: path)
    }

    /// Mirrors the derived value behind a property:
    ///
    ///     let stats = try await client.mirror(\.$stats, of: ReactorPath(Coordinator.self))
    public func mirror<Parent: Reactor, Value>(
        _ property: any KeyPath<Parent, DerivedHandle<Value>> & Sendable,
        of parent: ReactorPath<Parent>
    ) async throws(ClientError) -> Mirror<DerivedValue<Value>> {
        try await mirror(derived: Value.self, at: parent.derived(property).description)
    }

    // MARK: Collections

    /// Mirrors all present and future children of the collection at `path`, which are reactors of
    /// type `type` with keys of type `Key`; returns once their states are known. The same path and
    /// types give the same object while a reference to it exists; with the last reference the
    /// client stops following the collection.
    ///
    /// With a range of keys, a condition, an order or a maximum count, the daemon selects children,
    /// and sends these and their changes, and no others:
    ///
    ///     let newest = try await client.collection(
    ///         Run.self, at: "/projects/build/runs", where: \.progress > 3,
    ///         order: .descending(\.startedAt), first: 50)
    ///     for run in newest.states { print(run.key) }     // in the declared order
    ///
    /// A child counts as inserted when it begins to meet the condition, as removed when it ceases.
    /// Children that are equal in all parts of the order are in the order of their keys; without an
    /// order, `first` counts by keys.
    ///
    /// Types that differ have the consequences that they have for a mirror, and `missing` the same
    /// meaning.
    /// *Throws*: ``ClientError/otherReactor(path:expected:actual:)`` if another node, or a
    /// collection of another reactor, is at the path; ``ClientError/incompatible(path:_:)``, which
    /// names the child, if a child's state or key cannot be read, or the field that the daemon
    /// lacks; ``ClientError/refused(_:)``, which names the field, if the daemon's children lack a
    /// field of the selection or have one of another type, or if the daemon is too old to select
    /// children.
    public func collection<Key: ChildKey, R: Reactor>(
        _ type: R.Type, keys: Key.Type = WireKey.self, at path: String,
        in range: KeyRange? = nil, where condition: StateCondition<R.State>? = nil,
        order: StateOrder<R.State>..., first: Int? = nil, missing: MissingFields = .fail
    ) async throws(ClientError) -> MirrorCollection<Key, R> {
        try await collection(
            at: path, selecting: Selection(range, condition, order, first), missing: missing)
    }

    /// Mirrors the children of the collection behind a property:
    ///
    ///     let build = ReactorPath(Shop.self).child(\.$projects, "build")
    ///     let runs = try await client.collection(\.$runs, of: build)
    public func collection<Parent: Reactor, Key: ChildKey, R: Reactor>(
        _ property: any KeyPath<Parent, KeyedHandle<Key, R>> & Sendable,
        of parent: ReactorPath<Parent>, in range: KeyRange? = nil,
        where condition: StateCondition<R.State>? = nil, order: StateOrder<R.State>...,
        first: Int? = nil, missing: MissingFields = .fail
    ) async throws(ClientError) -> MirrorCollection<Key, R> {
        try await collection(
            at: parent.collection(property).description,
            selecting: Selection(range, condition, order, first), missing: missing)
    }

    private func collection<Key: ChildKey, R: Reactor>(
        at path: String, selecting selection: Selection, missing: MissingFields
    ) async throws(ClientError) -> MirrorCollection<Key, R> {
        let port = port
        let hold = try await node(at: path)
        let wanted = selection == Selection() ? nil : selection
        return try await ask { client, then in
            client.collection(
                at: path, selecting: wanted, missing: missing, port: port, hold, then: then)
        }
    }

    /// Lends the states of a collection and of mirrors of this client, all at one revision. Every
    /// change of one of them wakes observers.
    ///
    /// *Traps*: with mirrors of different clients.
    public func read<Key: ChildKey, R: Reactor, each Other: Reactor, Result, Failure: Error>(
        _ collection: MirrorCollection<Key, R>, _ mirrors: repeat Mirror<each Other>,
        in body: (
            CollectionStates<Key, R.State>, repeat (each Other).State
        ) throws(Failure) -> Result
    ) throws(Failure) -> Result {
        let shared = collection.shared
        collection.notices.changed.access()
        for (owner, changed) in repeat ((each mirrors).shared, (each mirrors).changed) {
            precondition(owner === shared, "mirrors of different clients share no revision")
            changed.access()
        }
        let (children, states) = shared.lock.withLock {
            (
                collection.shown.whileLocked { $0.states },
                (repeat (each mirrors).replica.whileLocked { $0.shown })
            )
        }
        return try body(children, repeat each states)
    }

    // MARK: Leases

    /// Leases the child at `path`, a key in a collection whose children are leased, and mirrors it.
    ///
    /// Without `definesLifecycle`, the end of this lease does not end the child: it lives until
    /// another lease ends it.
    /// `missing` is that of the lease's mirror.
    /// *Throws*: ``ClientError/leaseRefused(path:_:)``, and as for a mirror.
    public func lease<R: MirrorableReactor>(
        _ type: R.Type, at path: String, definesLifecycle: Bool = true,
        missing: MissingFields = .fail
    ) async throws(ClientError) -> Lease<R> {
        try await lease(
            R.makeForMirror(), at: path, definesLifecycle: definesLifecycle, missing: missing)
    }

    /// Leases the child at `path`, by an instance of its type, for a type whose initialiser needs
    /// arguments.
    public func lease<R: Reactor>(
        _ reactor: sending R, at path: String, definesLifecycle: Bool = true,
        missing: MissingFields = .fail
    ) async throws(ClientError) -> Lease<R> {
        let claim = HeldClaim(port)
        try await ask { [claim] client, then in
            claim.set(
                client.lease(path, definesLifecycle: definesLifecycle, then: then))
        }
        return Lease(try await mirror(reactor, at: path, missing: missing), claim)
    }

    /// Leases the child at a path of properties.
    public func lease<R: Reactor>(
        _ path: ReactorPath<R>, definesLifecycle: Bool = true, missing: MissingFields = .fail
    ) async throws(ClientError) -> Lease<R> {
        try await lease(
            path.make(), at: path.path.description, definesLifecycle: definesLifecycle,
            missing: missing)
    }
}
