/// What a client may ask of a collection whose children are leased.
///
///     {"lease":{"key":"42"}}
///
/// Rejections: `not_leased` for `release`; `QUOTA` for `lease`, where the connection holds too many
/// or too many children stay without a lease that defines their lives.
@WireCodable
public enum LeaseAction: Equatable, Sendable {
    /// Holds the child under `key` for the caller's connection; it is made if it is not there.
    /// Without `definesLifecycle`, the end of this lease ends nothing: another owner sees to that.
    case lease(key: WireKey, definesLifecycle: Bool = true)
    /// Gives the child under `key` back; the last to do so ends it.
    case release(key: WireKey)
}

extension LeaseAction {
    /// The child that it is about.
    var key: WireKey {
        switch self {
        case .lease(let key, _), .release(let key): key
        }
    }
}

/// By whom the children of a collection come and go.
public enum ChildLifetime: Sendable {
    /// By the parent's mutations.
    case decided
    /// By leases: a child lives while a connection holds it. See ``LeaseAction``.
    case leased
}

// MARK: - In a collection
extension CollectionNode {
    /// Carries out a lease or a release, in the transaction at hand.
    func carryOut(_ action: LeaseAction, _ turn: Turn) throws(Rejection) {
        let connection = turn.caller.connection
        if !turn.isPlain {
            let key = action.key
            if let page = leases?.page(key) {
                turn.undo.append { [self] in leases?.restore(key, page) }
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
            turn.disown(number, key, connection: connection)
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
        turn.own(
            number, key, connection: connection, definesLifecycle: definesLifecycle)
    }

    // because nothing but the parent ends such a child, and nobody need know it
    private func checkKept() throws(Rejection) {
        let keptCount = children.count - (leases?.definedCount ?? 0)
        guard keptCount >= CoreLimits.keptChildrenMax else { return }
        throw Rejection(
            .quota,
            "\(path): \(keptCount) children stay whoever leases them, keptChildrenMax is "
                + "\(CoreLimits.keptChildrenMax): lease with definesLifecycle, or have the parent "
                + "remove some")
    }

    /// Ends one connection's lease, and the child with it if it was the last that defines its life.
    func end(_ key: WireKey, _ connection: UInt64, _ turn: Turn) {
        guard leases?.leave(key, connection) ?? false else { return }
        turn.remove(key, from: self)
    }
}
