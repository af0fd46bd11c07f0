import ReactorCore

/// One who holds a child, or waits for it; see ``ClientMachine/lease(_:definesLifecycle:then:)``.
public struct LeaseClaim: Hashable, Sendable {
    fileprivate let number: UInt64
}

/// A child that this client holds, for all who want it.
final class HeldLease {
    let path: SlicePath
    /// The child's key in its collection.
    let key: WireKey
    /// Whether its end is to end the child.
    var definesLifecycle: Bool
    /// What of that was asked for last.
    var definesAsked = false
    /// Who wants it. Without any it stays until its outcome is known, and may be wanted again.
    var claims: Set<LeaseClaim> = []
    var state = State.asked
    /// Whether something at its path, or above, was removed since it was granted.
    var isDoubtful = false
    /// Who waits for it.
    var waiters: [(claim: LeaseClaim, then: (Result<Void, ClientError>) -> Void)] = []

    enum State {
        /// Asked for on the connection at hand, or about to be.
        case asked
        case held
        /// The connection that held it ended: the next one asks again.
        case lost
    }

    /// A lease of the child at `path`, which is not the root.
    init?(_ path: SlicePath, definesLifecycle: Bool) {
        guard let key = path.components.last else { return nil }
        self.path = path
        self.key = key
        self.definesLifecycle = definesLifecycle
    }

    /// Path of the collection.
    var collection: SlicePath { SlicePath(path.components.dropLast()) }

    /// What is asked for now.
    func nextAction() -> LeaseAction {
        definesAsked = definesLifecycle
        return .lease(key: key, definesLifecycle: definesLifecycle)
    }

    /// Whether a path leads to the child, or below it.
    func covers(_ text: String) -> Bool {
        guard let other = try? SlicePath(text) else { return false }
        return other.components.starts(with: path.components)
    }
}

// MARK: - Leases of a machine
extension ClientMachine {
    /// Holds the child at `path`, a place in a collection whose children are leased; the first to
    /// ask makes it. Held anew on each connection, until the claim is given up by
    /// ``release(_:)-(LeaseClaim)`` or the child cannot be had any more.
    @discardableResult
    public func lease(
        _ path: String, definesLifecycle: Bool = true,
        then completion: @escaping (Result<Void, ClientError>) -> Void
    ) -> LeaseClaim {
        lastClaim += 1
        let claim = LeaseClaim(number: lastClaim)
        if case .ended(let error) = stage {
            completion(.failure(error))
            return claim
        }
        guard let slice = try? SlicePath(path),
            let lease = HeldLease(slice, definesLifecycle: definesLifecycle)
        else {
            let text = "\(path) is no path of a child"
            completion(.failure(.refused(Refusal(.path, text))))
            return claim
        }
        join(leases.first { $0.path == slice } ?? lease, claim, definesLifecycle, completion)
        return claim
    }

    private func join(
        _ lease: HeldLease, _ claim: LeaseClaim, _ definesLifecycle: Bool,
        _ completion: @escaping (Result<Void, ClientError>) -> Void
    ) {
        lease.claims.insert(claim)
        let isNew = !leases.contains { $0 === lease }
        if isNew { leases.append(lease) }
        let isMore = definesLifecycle && !lease.definesLifecycle
        if isMore { lease.definesLifecycle = true }
        guard lease.state != .held || lease.isDoubtful || isMore else {
            return completion(.success(()))
        }
        lease.waiters.append((claim, completion))
        // because what is under way, or lost, is asked for again by whoever learns of that
        guard isNew || lease.state == .held else { return }
        lease.state = .asked
        ask(for: lease)
    }

    /// Gives up a claim, granted or not; one that has ended already is none any more.
    public func release(_ claim: LeaseClaim) {
        guard let lease = leases.first(where: { $0.claims.contains(claim) }) else { return }
        lease.claims.remove(claim)
        let waiters = lease.waiters.filter { $0.claim == claim }
        lease.waiters.removeAll { $0.claim == claim }
        // because one that is on its way may be wanted again before it is granted
        if lease.claims.isEmpty, lease.state != .asked { drop(lease) }
        for waiter in waiters { waiter.then(.failure(.cancelled)) }
    }

    /// Forgets a lease that nobody wants, and gives it back if it is held.
    private func drop(_ lease: HeldLease) {
        leases.removeAll { $0 === lease }
        guard lease.state == .held else { return followAgain(below: lease) }
        act(.release(key: lease.key), on: lease) { _ in }
    }

    /// Sends an action to the collection of a lease.
    private func act(
        _ action: @autoclosure @escaping () -> LeaseAction, on lease: HeldLease,
        then completion: @escaping (Result<ActionOutcome, ClientError>) -> Void
    ) {
        hold(lease.collection.description) { [unowned self] result in
            do throws(ClientError) {
                let hold = try result.get()
                try dispatch(action(), to: hold.node) { outcome in
                    hold.keep()
                    completion(.success(outcome))
                }
            } catch {
                completion(.failure(error))
            }
        }
    }

    private func ask(for lease: HeldLease) {
        act(lease.nextAction(), on: lease) { [unowned self] result in
            switch result {
            case .success(let outcome): note(outcome, of: lease)
            case .failure(let error): end(lease, error)
            }
        }
    }

    private func note(_ outcome: ActionOutcome, of lease: HeldLease) {
        switch outcome {
        case .applied, .accepted: noteGrant(of: lease)
        case .ownerEnded, .unknown:
            // because what was leased on a connection ended with it; with this one live, it is
            // asked for again
            if case .ended(let error) = stage { return end(lease, error) }
            if lease.claims.isEmpty { drop(lease) } else { ask(for: lease) }
        case .rejected(let rejection):
            end(lease, .leaseRefused(path: lease.path.description, rejection))
        case .failed(let message):
            if case .ended(let error) = stage { return end(lease, error) }
            end(lease, .daemonFault(message))
        }
    }

    private func noteGrant(of lease: HeldLease) {
        guard !lease.claims.isEmpty else {
            lease.state = .held
            followAgain(below: lease)
            return drop(lease)
        }
        // because one who wanted more may have come while less was asked for
        guard lease.definesAsked == lease.definesLifecycle else { return ask(for: lease) }
        lease.state = .held
        lease.isDoubtful = false
        let waiters = lease.waiters
        lease.waiters = []
        followAgain(below: lease)
        for waiter in waiters { waiter.then(.success(())) }
    }

    /// The lease cannot be had: tells those who wait for it, and those who follow what it held.
    private func end(_ lease: HeldLease, _ error: ClientError) {
        guard leases.contains(where: { $0 === lease }) else { return }
        leases.removeAll { $0 === lease }
        let waiters = lease.waiters
        lease.waiters = []
        for waiter in waiters { waiter.then(.failure(error)) }
        // because what is there without this lease is nothing to it
        if !lease.claims.isEmpty {
            for subscription in subscriptions where lease.covers(subscription.path) {
                remove(subscription, because: error)
            }
        }
        followAgain(below: lease)
    }

    /// Something at `path` was removed, and all that was held there with it.
    func doubtLeases(from path: String) {
        guard !leases.isEmpty, let path = try? SlicePath(path) else { return }
        for lease in leases where lease.path.components.starts(with: path.components) {
            lease.isDoubtful = true
        }
    }
}

// MARK: - When connections come and go
extension ClientMachine {
    /// Marks every lease as lost with its connection: what it held is followed again once it is
    /// had again.
    func loseLeases() {
        // because what was removed is not had again before somebody asks for it
        leases.removeAll { $0.state == .held && $0.isDoubtful }
        for lease in leases {
            if lease.state == .held { lease.state = .lost }
            for subscription in subscriptions where lease.covers(subscription.path) {
                // because nothing else shall wait for what may never come again
                subscription.wasLive = false
                subscription.needsSnapshot = true
            }
        }
    }

    /// Asks again for what the last connection held.
    func renewLeases() {
        // because the collection of one may itself be in what another holds
        for lease in leases
        where lease.state == .lost && !isUnleased(lease.collection.description) {
            lease.state = .asked
            ask(for: lease)
        }
    }

    /// There will be no leases any more.
    func failLeases(_ error: ClientError) {
        for lease in leases { end(lease, error) }
    }

    /// Whether something at `path` has to wait for a lease.
    func isUnleased(_ path: String) -> Bool {
        leases.contains { $0.state != .held && $0.covers(path) }
    }

    private func followAgain(below lease: HeldLease) {
        guard stage == .live else { return }
        for index in nodes.indices {
            guard let entry = nodes[index], entry.holderCount > 0, lease.covers(entry.path) else {
                continue
            }
            sendOpen(index)
        }
        for subscription in subscriptions
        where subscription.sliceID == nil && lease.covers(subscription.path) {
            send(subscription)
        }
        renewLeases()
    }
}
