public import ReactorCore
import ReactorThreads

// MARK: - Mirrors
extension Client {
    /// Mirrors the node at `path`, which is of type `type`; returns once the mirror shows the
    /// daemon's state. The same path and type give the same mirror while a reference to it
    /// exists; then the client stops following the node.
    ///
    /// *Throws*: as with an instance.
    public func mirror<R: MirrorableReactor>(
        _ type: R.Type, at path: String
    ) async throws(ClientError) -> Mirror<R> {
        try await mirror(R.makeForMirror(), at: path)
    }

    /// Mirrors the node at `path`, which is one of `reactor`'s type, where that needs arguments to
    /// be made.
    ///
    /// `reactor` runs `reduce` and `transform(state:)` on the client's thread, and, for previews,
    /// `mutate` and the other transforms wherever the mirror is read or sent to: see
    /// ``Mirror/send(_:isPreviewed:cancel:)``. Where the daemon's types differ, the mirror
    /// follows the value instead of the mutations, if its `State` can still be read from that: with
    /// fields more or less where the daemon's reactor has the same name, else exactly.
    /// *Throws*: ``ClientError/incompatible(path:_:)`` that names the field, where it cannot;
    /// ``ClientError/otherReactor(path:expected:actual:)`` where the daemon's has another name.
    public func mirror<R: Reactor>(
        _ reactor: sending R, at path: String
    ) async throws(ClientError) -> Mirror<R> {
        let port = port
        let reactor = Confined(reactor)
        let hold = try await node(at: path)
        return try await ask { client, then in
            client.mirror(reactor.open(), at: path, port: port, hold, then: then)
        }
    }

    /// Lends the states of several mirrors of this client, all at one revision.
    ///
    /// *Traps*: with mirrors of different clients.
    public func read<First: Reactor, each Other: Reactor, Result, Failure: Error>(
        _ first: Mirror<First>, _ other: repeat Mirror<each Other>,
        in body: (First.State, repeat (each Other).State) throws(Failure) -> Result
    ) throws(Failure) -> Result {
        let shared = first.shared
        for owner in repeat (each other).shared {
            precondition(owner === shared, "mirrors of different clients share no revision")
        }
        let (firstState, states) = shared.lock.withLock {
            (
                first.replica.whileLocked { $0.shown },
                (repeat (each other).replica.whileLocked { $0.shown })
            )
        }
        return try body(firstState, repeat each states)
    }

    /// The number of the node at `path`; asked of the daemon where it is not known.
    func node(at path: String) async throws(ClientError) -> NodeHold {
        try await ask { client, then in
            client.hold(path, then: then)
        }
    }
}

// MARK: - By properties
extension Client {
    /// Mirrors the nested reactor that properties lead to:
    ///
    ///     let visits = try await client.mirror(ReactorPath(Shop.self).child(\.$visits))
    ///
    /// `text` is the same place as a path in text, where both are known.
    /// *Throws*: ``ClientError/otherPath(_:)`` where the two differ,
    /// ``ClientError/otherReactor(path:expected:actual:)`` where the daemon has another reactor
    /// there, and as for a mirror.
    public func mirror<R: Reactor>(
        _ path: ReactorPath<R>, at text: String? = nil
    ) async throws(ClientError) -> Mirror<R> {
        if let text {
            do throws(ReactorPathMismatch) {
                try path.check(text)
            } catch {
                throw .otherPath(error)
            }
        }
        let place = path.path.description
        let hold = try await node(at: place)
        let name = try await ask { client, then in
            then(.success(client.reactorName(of: hold.node)))
        }
        guard name == "\(R.self)" else {
            throw .otherReactor(path: place, expected: "\(R.self)", actual: name)
        }
        return try await mirror(path.make(), at: place)
    }
}

// MARK: - Leases
extension Client {
    /// Holds the child at `path`, a key in a collection whose children are leased, and mirrors it.
    ///
    /// Without `definesLifecycle`, the end of this lease ends nothing: the child lives until
    /// another lease ends it.
    /// *Throws*: ``ClientError/leaseRefused(path:_:)``, and as for a mirror.
    public func lease<R: MirrorableReactor>(
        _ type: R.Type, at path: String, definesLifecycle: Bool = true
    ) async throws(ClientError) -> Lease<R> {
        try await lease(R.makeForMirror(), at: path, definesLifecycle: definesLifecycle)
    }

    /// Holds the child at `path`, by a reactor that needs arguments to be made.
    public func lease<R: Reactor>(
        _ reactor: sending R, at path: String, definesLifecycle: Bool = true
    ) async throws(ClientError) -> Lease<R> {
        let claim = HeldClaim(port)
        try await ask { [claim] client, then in
            claim.set(
                client.lease(path, definesLifecycle: definesLifecycle, then: then))
        }
        return Lease(try await mirror(reactor, at: path), claim)
    }

    /// Holds the child that properties lead to.
    public func lease<R: Reactor>(
        _ path: ReactorPath<R>, definesLifecycle: Bool = true
    ) async throws(ClientError) -> Lease<R> {
        try await lease(
            path.make(), at: path.path.description, definesLifecycle: definesLifecycle)
    }
}
