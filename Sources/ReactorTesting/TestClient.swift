public import ReactorClient
public import ReactorCore
import ReactorThreads

/// A client of a ``TestDaemon``: every call returns when all that follows from it has happened.
///
/// Its mirrors are those of a `Client`: they send, bind, preview and run sagas. What they were asked
/// is done with the next ``TestDaemon/settle()``; code that waits for it runs in
/// ``TestDaemon/run(for:_:)``. Sagas wait by ``TestDaemon/clock``. It ends with the last who holds it
/// or a mirror of it.
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

    /// The machine under it, for what is not offered here.
    public var machine: ClientMachine { client.machine }

    /// Mirrors the reactor of type `type` at `path`.
    ///
    /// *Throws*: ``ClientError`` where the daemon refuses, or says nothing: it is gone.
    public func mirror<R: MirrorableReactor>(
        _ type: R.Type, at path: String = "/"
    ) throws(ClientError) -> Mirror<R> {
        try mirror(R.makeForMirror(), at: path)
    }

    /// Mirrors the reactor at `path`, which is one of `reactor`'s type.
    public func mirror<R: Reactor>(
        _ reactor: R, at path: String = "/"
    ) throws(ClientError) -> Mirror<R> {
        let hold: NodeHold = try ask { $0.hold(path, then: $1) }
        return try ask { [port] in $0.mirror(reactor, at: path, port: port, hold, then: $1) }
    }

    /// Holds the child at `path`, a key in a collection whose children are leased, and mirrors it.
    ///
    /// *Throws*: as with a `Client`.
    public func lease<R: MirrorableReactor>(
        _ type: R.Type, at path: String, definesLifecycle: Bool = true
    ) throws(ClientError) -> Lease<R> {
        let claim = HeldClaim(port)
        let _: Void = try ask {
            claim.set($0.lease(path, definesLifecycle: definesLifecycle, then: $1))
        }
        return Lease(try mirror(type, at: path), claim)
    }

    /// Sends an action to the node at `path`, and says what became of it.
    ///
    /// *Throws*: ``ClientError`` where it was not sent: there is no such node, or no daemon.
    public func dispatch(
        _ action: some WireCodable, to path: String = "/",
        _ conditions: DispatchOptions? = nil
    ) throws(ClientError) -> ActionOutcome {
        let hold: NodeHold = try ask { $0.hold(path, then: $1) }
        let bytes = action.wireBytes()
        return try ask { machine, then in
            do throws(ClientError) {
                try machine.dispatch(encoded: bytes.span, to: hold.node, conditions) { outcome in
                    hold.keep()
                    then(.success(outcome))
                }
            } catch {
                then(.failure(error))
            }
        }
    }

    /// Sends an action to the node at `path`; `completion` is told what became of it when its
    /// effects have ended, which may take time: ``TestDaemon/advance(by:)``.
    public func perform(
        _ action: some WireCodable, to path: String = "/",
        _ conditions: DispatchOptions? = nil,
        then completion: @escaping (ActionOutcome) -> Void
    ) throws(ClientError) {
        let hold: NodeHold = try ask { $0.hold(path, then: $1) }
        var failure: ClientError?
        client.act { machine in
            do throws(ClientError) {
                try machine.perform(action, to: hold.node, conditions) { outcome in
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

    /// Sends an action to what `mirror` shows, and says what became of it.
    ///
    /// *Throws*: ``ClientError`` where the daemon does not answer.
    public func dispatch<R: Reactor>(
        _ action: R.Action, to mirror: Mirror<R>
    ) throws(ClientError) -> DispatchOutcome<R.Reply> {
        do {
            return try daemon.run { await mirror.dispatch(action) }
        } catch {
            throw .unreachable(tried: [])
        }
    }

    /// The value at `path`; `nil` if nothing stands there now.
    public func get(_ path: String = "/") throws(ClientError) -> WireValue? {
        let bytes: [UInt8] = try ask { $0.ask(.get(path: path), then: $1) }
        do throws(WireError) {
            let answer = try WireValue(wireBytes: bytes)
            return answer[1]?.boolValue == true ? answer[2] : nil
        } catch {
            throw .daemonFault("\(error)")
        }
    }

    /// Has the connection break; the client comes back after a pause: ``TestDaemon/advance(by:)``.
    public func disconnect() {
        if let link = client.link { daemon.world.reset(link, client) }
        daemon.settle()
    }

    /// Ends the client.
    public func close() {
        port.end()
        daemon.settle()
    }

    private func ask<Value>(
        _ body: (ClientMachine, @escaping (Result<Value, ClientError>) -> Void) -> Void
    ) throws(ClientError) -> Value {
        var answer: Result<Value, ClientError>?
        client.act { machine in body(machine) { answer = $0 } }
        daemon.settle()
        guard let answer else { throw .unreachable(tried: []) }
        return try answer.get()
    }
}
