public import ReactorClient
public import ReactorCore
import ReactorThreads

/// A client of a ``TestDaemon``: every call returns when all its consequences have happened.
///
/// Its mirrors are those of a `Client`: they send, bind, preview and run sagas. Their requests run
/// in the next ``TestDaemon/settle()``; code that waits for them runs in
/// ``TestDaemon/run(for:_:)``. Sagas use ``TestDaemon/clock``. The client closes when the last
/// reference to it and to its mirrors is released.
///
/// *Owner*: the test's isolation.
public final class TestClient {
    private let daemon: TestDaemon
    private let client: SimulatedClient
    private let port: ActionPort

    init(_ daemon: TestDaemon, _ client: SimulatedClient, _ options: ClientOptions) {
        self.daemon = daemon
        self.client = client
        let (jobs, confined) = (daemon.world.clientJobs, Confined(client))
        let shell = PortShell(executor: daemon.effects.executor) { job in
            jobs.post { confined.open().act(job) }
            return true
        } end: {
            jobs.post { confined.open().act { $0.close() } }
        }
        port = ActionPort(shell, options) { false }
    }

    /// The underlying client machine, for functions that this class does not offer.
    package var machine: ClientMachine { client.machine }

    /// Mirrors the reactor of type `type` at `path`.
    ///
    /// *Throws*: ``ClientError`` if the daemon refuses, or does not answer.
    public func mirror<R: MirrorableReactor>(
        _ type: R.Type, at path: String = "/", missing: MissingFields = .fail
    ) throws(ClientError) -> Mirror<R> {
        try mirror(R.makeForMirror(), at: path, missing: missing)
    }

    /// Mirrors the reactor at `path`, whose type is that of `reactor`.
    public func mirror<R: Reactor>(
        _ reactor: R, at path: String = "/", missing: MissingFields = .fail
    ) throws(ClientError) -> Mirror<R> {
        let hold: NodeHold = try ask { $0.hold(path, then: $1) }
        return try ask { [port] in
            $0.mirror(reactor, at: path, missing: missing, port: port, hold, then: $1)
        }
    }

    /// Mirrors the derived value at `path`, which is of type `type`.
    public func mirror<Value>(
        derived type: Value.Type, at path: String
    ) throws(ClientError) -> Mirror<DerivedValue<Value>>
    where Value: WireCodable & Equatable & Sendable {
        let hold: NodeHold = try ask { $0.hold(path, then: $1) }
        let name: String = try ask { client, then in
            then(.success(client.reactorName(of: hold.node)))
        }
        let expected = DerivedValue<Value>.reactorName
        guard name == expected else {
            throw .otherReactor(path: path, expected: expected, actual: name)
        }
        let bytes = (try get(path) ?? .null).wireBytes()
        let first: Value
        do throws(WireError) {
            first = try Value(wireBytes: bytes)
        } catch {
            throw .incompatible(path: path, error)
        }
        return try mirror(DerivedValue(first), at: path)
    }

    /// Leases the child at `path`, a key in a collection with leases, and mirrors it.
    ///
    /// *Throws*: as with a `Client`.
    public func lease<R: MirrorableReactor>(
        _ type: R.Type, at path: String, definesLifecycle: Bool = true,
        missing: MissingFields = .fail
    ) throws(ClientError) -> Lease<R> {
        let claim = HeldClaim(port)
        let _: Void = try ask {
            claim.set($0.lease(path, definesLifecycle: definesLifecycle, then: $1))
        }
        return Lease(try mirror(type, at: path, missing: missing), claim)
    }

    /// Sends an action to the node at `path` and returns its outcome.
    ///
    /// *Throws*: ``ClientError`` if the action was not sent: the node or the daemon does not
    /// exist; ``ReactorClient/ClientError/unanswered(_:)`` if the daemon has the action and the
    /// reactor defers its reply: send such an action with ``perform(_:to:_:then:)``.
    public func dispatch(
        _ action: some WireCodable, to path: String = "/",
        _ conditions: DispatchOptions? = nil
    ) throws(ClientError) -> ActionOutcome {
        let hold: NodeHold = try ask { $0.hold(path, then: $1) }
        let outgoing = OutgoingAction(action, to: hold.node, conditions)
        let outcome: ActionOutcome? = try answer { machine, then in
            do throws(ClientError) {
                try machine.submit(outgoing) { outcome in
                    hold.keep()
                    then(.success(outcome))
                }
            } catch {
                then(.failure(error))
            }
        }
        guard let outcome else { throw withoutOutcome(path) }
        return outcome
    }

    /// Sends an action to the node at `path` and calls `completion` with its outcome once its
    /// effects have ended. That may need time: ``TestDaemon/advance(by:)``.
    public func perform(
        _ action: some WireCodable, to path: String = "/",
        _ conditions: DispatchOptions? = nil,
        then completion: @escaping (ActionOutcome) -> Void
    ) throws(ClientError) {
        let hold: NodeHold = try ask { $0.hold(path, then: $1) }
        var outgoing = OutgoingAction(action, to: hold.node, conditions)
        outgoing.awaitsEffects = true
        var failure: ClientError?
        client.act { machine in
            do throws(ClientError) {
                try machine.submit(outgoing) { outcome in
                    hold.keep()
                    completion(outcome)
                }
            } catch {
                failure = error
            }
        }
        daemon.settle()
        if let failure { throw failure }
    }

    /// Sends an action to the reactor of `mirror` and returns its outcome.
    ///
    /// *Throws*: ``ClientError`` if the daemon does not answer;
    /// ``ReactorClient/ClientError/unanswered(_:)`` if the reactor defers its reply: send such an
    /// action with ``perform(_:to:_:then:)``.
    public func dispatch<R: Reactor>(
        _ action: R.Action, to mirror: Mirror<R>
    ) throws(ClientError) -> DispatchOutcome<R.Reply> {
        do {
            return try daemon.run { await mirror.dispatch(action) }
        } catch {
            throw withoutOutcome(mirror.path)
        }
    }

    /// The error for an action to `path` whose outcome needs more than settled work.
    private func withoutOutcome(_ path: String) -> ClientError {
        guard machine.phase == .live else { return .unreachable(tried: []) }
        return .unanswered(
            "the reactor at \(path) has the action and defers its reply; send it with "
                + "`perform(_:to:then:)`, whose closure receives the outcome when it comes")
    }

    /// Returns the value at `path`; `nil` if nothing exists there.
    public func get(_ path: String = "/") throws(ClientError) -> WireValue? {
        let bytes: [UInt8] = try ask { $0.ask(.get(path: path), then: $1) }
        do throws(WireError) {
            let answer = try WireValue(wireBytes: bytes)
            return answer[1]?.boolValue == true ? answer[2] : nil
        } catch {
            throw .daemonFault("\(error)")
        }
    }

    /// Breaks the connection; the client reconnects after a pause: ``TestDaemon/advance(by:)``.
    public func disconnect() {
        if let link = client.link { daemon.world.reset(link, client) }
        daemon.settle()
    }

    /// Closes the connection and ends the client.
    public func close() {
        port.end()
        daemon.settle()
    }

    private func ask<Value>(
        _ body: (ClientMachine, @escaping (Result<Value, ClientError>) -> Void) -> Void
    ) throws(ClientError) -> Value {
        guard let value = try answer(body) else { throw .unreachable(tried: []) }
        return value
    }

    /// The answer to a question; nil if none has come when all work is done.
    private func answer<Value>(
        _ body: (ClientMachine, @escaping (Result<Value, ClientError>) -> Void) -> Void
    ) throws(ClientError) -> Value? {
        var answer: Result<Value, ClientError>?
        client.act { machine in body(machine) { answer = $0 } }
        daemon.settle()
        return try answer?.get()
    }
}
