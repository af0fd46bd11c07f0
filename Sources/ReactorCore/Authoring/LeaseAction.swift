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

// MARK: - In a collection
extension CollectionNode {
    /// Applies a lease or a release, in the current transaction.
    func carryOut(_ action: LeaseAction, _ turn: Turn) throws(Rejection) {
        let connection = turn.transaction.caller.connection
        if turn.undo.isRecording {
            let key = action.key
            if let page = leases?.page(key) {
                turn.undo.add { [self] in leases?.restore(key, page) }
            }
        }
        switch action {
        case .lease(let key, let definesLifecycle):
            try hold(key, connection, definesLifecycle: definesLifecycle, turn)
        case .release(let key):
            guard leases?.isHeld(key, by: connection) ?? false else {
                throw Rejection(
                    "not_leased", "\(path.appending(key)) is not leased by this connection")
            }
            turn.transaction.wishes.change(
                .disown(node: number, key: key, connection: connection))
            end(key, connection, turn)
        }
    }

    private func hold(
        _ key: WireKey, _ connection: UInt64, definesLifecycle: Bool, _ turn: Turn
    ) throws(Rejection) {
        let isHeld = leases?.isHeld(key, by: connection) ?? false
        guard isHeld || leases?.hasRoom(for: connection) ?? false else {
            throw Rejection(
                .quota,
                "\(path): \(CoreLimits.leasesPerConnectionMax) leases of this connection, the most")
        }
        if children[key] == nil {
            if !definesLifecycle { try checkKept() }
            try checkCreation(of: key, turn.tree.mountedCount)
            turn.create(key, in: self)
        }
        leases?.hold(key, by: connection, definesLifecycle: definesLifecycle)
        turn.transaction.wishes.change(
            .own(
                node: number, key: key, connection: connection, definesLifecycle: definesLifecycle))
    }

    // Only the parent removes such a child, and it may not know that the child exists.
    private func checkKept() throws(Rejection) {
        let keptCount = children.count - (leases?.definedCount ?? 0)
        guard keptCount >= CoreLimits.keptChildrenMax else { return }
        throw Rejection(
            .quota,
            "\(path): \(keptCount) children stay whoever leases them, keptChildrenMax is "
                + "\(CoreLimits.keptChildrenMax): lease with definesLifecycle, or have the parent "
                + "remove some")
    }

    /// Ends one connection's lease, and removes the child after the last lease that holds it.
    func end(_ key: WireKey, _ connection: UInt64, _ turn: Turn) {
        guard leases?.leave(key, connection) ?? false else { return }
        turn.remove(key, from: self)
    }
}
