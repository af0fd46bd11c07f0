public import ReactorCore
import ReactorThreads

/// A keyed child of the daemon that lives while somebody holds one of these, with its mirror.
///
///     let detail = try await client.lease(Detail.self, at: "/details/42")
///     print(detail.mirror.title)
///
/// The child is made for the first who holds it, in any process, and ends with the last: when it is
/// let go, or when the last holder's connection ends. Its effects are cancelled then. A client that
/// lost its connection holds the child again as soon as it is back; if nobody else did meanwhile,
/// that is a new one. Actions that arrive in between are rejected with `NOT_FOUND`. One that ends
/// otherwise, as by its collection's parent, is made anew for who leases it then; this lease's mirror
/// says that it is gone.
public final class Lease<R: Reactor>: Sendable {
    /// Shows the child.
    public let mirror: Mirror<R>
    private let claim: HeldClaim

    package init(_ mirror: Mirror<R>, _ claim: HeldClaim) {
        self.mirror = mirror
        self.claim = claim
    }
}

/// A claim that is given up when nobody holds it.
package final class HeldClaim: Sendable {
    private let port: ActionPort
    // because a claim is given up behind the job that made it, it is known by then
    private let claim = Guarded<LeaseClaim?>(nil)

    /// Holds nothing before ``set(_:)``.
    package init(_ port: ActionPort) { self.port = port }

    deinit {
        _ = port.post { [claim] client in
            guard let claim = claim.withLock({ $0 }) else { return }
            client.release(claim)
        }
    }

    /// Notes which claim it is. *Owner*: the client's thread.
    package func set(_ claim: LeaseClaim) { self.claim.withLock { $0 = claim } }
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
