public import ReactorCore
import ReactorThreads

/// A keyed child in the daemon that lives while a lease of it exists, with its mirror.
///
///     let detail = try await client.lease(Detail.self, at: "/details/42")
///     print(detail.mirror.title)
///
/// The daemon makes the child for the first lease, of any process. It ends the child with the last
/// lease: when the program releases that lease, or when its connection ends. The child's effects
/// are cancelled then. A client that lost its connection leases the child again as soon as it has
/// reconnected. Unless another client held a lease in between, that is a new child. Actions that
/// arrive in between are rejected with `NOT_FOUND`. Where the child ends for another reason, such
/// as its collection's parent, the daemon makes it again for the next lease; this lease's mirror
/// fails with ``ClientError/gone(path:)``.
public final class Lease<R: Reactor>: Sendable {
    /// The child's mirror.
    public let mirror: Mirror<R>
    private let claim: HeldClaim

    package init(_ mirror: Mirror<R>, _ claim: HeldClaim) {
        self.mirror = mirror
        self.claim = claim
    }
}

/// A claim that is released with the last reference to this object.
package final class HeldClaim: Sendable {
    private let port: ActionPort
    // The job that releases the claim runs after the job that made it, so the claim is known then.
    private let claim = Guarded<LeaseClaim?>(nil)

    /// Holds no claim before ``set(_:)``.
    package init(_ port: ActionPort) { self.port = port }

    deinit {
        _ = port.post { [claim] client in
            guard let claim = claim.withLock({ $0 }) else { return }
            client.release(claim)
        }
    }

    /// Stores the claim to release. *Owner*: the client's thread.
    package func set(_ claim: LeaseClaim) { self.claim.withLock { $0 = claim } }
}
