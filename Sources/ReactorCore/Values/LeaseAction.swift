/// The actions of a collection whose children are leased.
///
///     {"lease":{"key":"42"}}
///
/// Rejections: `not_leased` for `release`; `QUOTA` for `lease`, where the connection holds too many
/// children, or too many children exist without a lease that defines their lifetime.
@WireCodable
public enum LeaseAction: Equatable, Sendable {
    /// Holds the child under `key` for the caller's connection, and creates it if needed. Without
    /// `definesLifecycle`, the end of this lease does not remove the child.
    case lease(key: WireKey, definesLifecycle: Bool = true)
    /// Releases the child under `key`; the last release removes it.
    case release(key: WireKey)
}

extension LeaseAction {
    /// The child's key.
    var key: WireKey {
        switch self {
        case .lease(let key, _), .release(let key): key
        }
    }
}

/// How the children of a collection are created and removed.
public enum ChildLifetime: Sendable {
    /// By the parent's mutations.
    case decided
    /// By leases: a child lives while a connection holds it. See ``LeaseAction``.
    case leased
}
