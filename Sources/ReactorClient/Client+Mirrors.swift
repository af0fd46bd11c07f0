public import ReactorCore
import ReactorThreads

// MARK: - Mirrors
extension Client {
    /// Mirrors the node at `path`, which is of type `type`; returns once the mirror shows the
    /// daemon's state. The same path and type give the same mirror while somebody holds it; when
    /// nobody does any more, the client stops following the node.
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
        let board = first.board
        for mirrorBoard in repeat (each other).board {
            precondition(mirrorBoard === board, "mirrors of different clients share no revision")
        }
        let (firstState, states) = board.lock.withLock {
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
