public import ReactorCore

/// A keyed child of the daemon that lives while somebody holds one of these, with its mirror.
///
///     let detail = try await client.lease(Detail.self, at: "/details/42")
///     print(detail.mirror.title)
///
/// The child is made for the first who holds it, in any process, and ends with the last: when it is
/// let go, or when the last holder's connection ends. Its effects are cancelled then. A client that
/// lost its connection holds the child again as soon as it is back; if nobody else did meanwhile,
/// that is a new one. Actions that arrive in between are rejected with `NOT_FOUND`.
public final class Lease<R: Reactor>: Sendable {
    /// Shows the child.
    public let mirror: Mirror<R>
    private let port: ActionPort

    package init(_ mirror: Mirror<R>, _ port: ActionPort) {
        self.mirror = mirror
        self.port = port
    }

    deinit { port.release(mirror.path) }
}

extension ActionPort {
    /// Gives a lease back.
    fileprivate func release(_ path: String) {
        _ = post { client in
            client.release(path)
        }
    }
}

extension Client {
    /// Holds the child at `path`, a key in a collection whose children are leased, and mirrors it.
    ///
    /// Without `definesLifecycle`, the end of this lease ends nothing: the child lives until
    /// another holder's does.
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
        let port = port
        try await ask { client, then in
            client.lease(path, definesLifecycle: definesLifecycle, then: then)
        }
        do throws(ClientError) {
            return Lease(try await mirror(reactor, at: path), port)
        } catch {
            port.release(path)
            throw error
        }
    }

    /// Holds the child that properties lead to.
    public func lease<R: Reactor>(
        _ path: ReactorPath<R>, definesLifecycle: Bool = true
    ) async throws(ClientError) -> Lease<R> {
        try await lease(
            path.make(), at: path.path.description, definesLifecycle: definesLifecycle)
    }
}
