public import ReactorCore
import ReactorThreads

/// A keyed child of the daemon that lives while a lease of it exists, with its mirror.
///
///     let detail = try await client.lease(Detail.self, at: "/details/42")
///     print(detail.mirror.title)
///
/// The daemon makes the child for its first lease, of any process, and ends it with the last: when
/// that is released, or when its connection ends. The child's effects are cancelled then. A client
/// that lost its connection leases the child again as soon as it is back; if no other client did in
/// between, that is a new child. Actions that arrive in between are rejected with `NOT_FOUND`. A child
/// that ends otherwise, as by its collection's parent, is made again for the next lease; this lease's
/// mirror says that it is gone.
public final class Lease<R: Reactor>: Sendable {
    /// Shows the child.
    public let mirror: Mirror<R>
    private let claim: HeldClaim

    package init(_ mirror: Mirror<R>, _ claim: HeldClaim) {
        self.mirror = mirror
        self.claim = claim
    }
}

/// A claim that is given up with the last reference to it.
package final class HeldClaim: Sendable {
    private let port: ActionPort
    // The job that gives a claim up runs behind the job that made it: the claim is known then.
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
