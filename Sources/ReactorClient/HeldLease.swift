import ReactorCore

/// A child that this client holds, for all who want it.
final class HeldLease {
    let path: SlicePath
    /// The child's key in its collection.
    let key: WireKey
    let definesLifecycle: Bool
    /// How many want it.
    var count = 1
    var state = State.asked
    /// Who waits for it.
    var waiters: [(Result<Void, ClientError>) -> Void] = []

    enum State {
        /// Asked for on the connection at hand, or about to be.
        case asked
        case held
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

    /// Whether a path leads to the child, or below it.
    func covers(_ text: String) -> Bool {
        guard let other = try? SlicePath(text) else { return false }
        return other.components.starts(with: path.components)
    }
}

// MARK: - Leases of a machine
extension ClientMachine {
    /// Holds the child at `path`, a place in a collection whose children are leased; the first to
    /// ask makes it. Held anew on each connection.
    public func lease(
        _ path: String, definesLifecycle: Bool = true,
        then completion: @escaping (Result<Void, ClientError>) -> Void
    ) {
        if case .ended(let error) = stage { return completion(.failure(error)) }
        guard let slice = try? SlicePath(path),
            let lease = HeldLease(slice, definesLifecycle: definesLifecycle)
        else {
            let text = "\(path) is no path of a child"
            return completion(.failure(.refused(Refusal(.path, text))))
        }
        if let known = leases.first(where: { $0.path == slice }) {
            known.count += 1
            guard known.state == .asked else { return completion(.success(())) }
            known.waiters.append(completion)
            return
        }
        lease.waiters.append(completion)
        leases.append(lease)
        ask(for: lease)
    }

    /// Gives back what ``lease(_:definesLifecycle:then:)`` was granted, once for each.
    public func release(_ path: String) {
        guard let slice = try? SlicePath(path),
            let index = leases.firstIndex(where: { $0.path == slice })
        else { return }
        let lease = leases[index]
        lease.count -= 1
        guard lease.count == 0 else { return }
        leases.remove(at: index)
        // because one that is on its way is given back when it is granted
        if lease.state == .held { giveBack(lease) }
    }

    private func giveBack(_ lease: HeldLease) {
        open(lease.collection.description) { [unowned self] result in
            guard let node = try? result.get() else { return }
            try? dispatch(LeaseAction.release(key: lease.key), to: node)
        }
    }

    private func ask(for lease: HeldLease) {
        open(lease.collection.description) { [unowned self] result in
            do throws(ClientError) {
                let node = try result.get()
                let action = LeaseAction.lease(
                    key: lease.key, definesLifecycle: lease.definesLifecycle)
                try dispatch(action, to: node) { [unowned self] in note($0, of: lease) }
            } catch {
                end(lease, error)
            }
        }
    }

    private func note(_ outcome: ActionOutcome, of lease: HeldLease) {
        let isWanted = leases.contains { $0 === lease }
        switch outcome {
        case .applied, .accepted:
            guard isWanted else { return giveBack(lease) }
            lease.state = .held
            let waiters = lease.waiters
            lease.waiters = []
            followAgain(below: lease)
            for waiter in waiters { waiter(.success(())) }
        case .ownerEnded, .unknown:
            // because what was leased on a connection ended with it; with this one live, it is
            // asked for again
            if case .ended(let error) = stage { return end(lease, error) }
            if isWanted { ask(for: lease) }
        case .rejected(let rejection):
            end(lease, .leaseRefused(path: lease.path.description, rejection))
        case .failed(let message):
            if case .ended(let error) = stage { return end(lease, error) }
            end(lease, .daemonFault(message))
        }
    }

    /// The lease cannot be had: tells those who wait for it, and those who follow what it held.
    private func end(_ lease: HeldLease, _ error: ClientError) {
        leases.removeAll { $0 === lease }
        let waiters = lease.waiters
        lease.waiters = []
        for waiter in waiters { waiter(.failure(error)) }
        for subscription in subscriptions where lease.covers(subscription.path) {
            remove(subscription, because: error)
        }
    }
}

// MARK: - When connections come and go
extension ClientMachine {
    /// Marks every lease as lost with its connection: what it held is followed again once it is
    /// had again.
    func loseLeases() {
        for lease in leases where lease.state == .held {
            lease.state = .asked
            isRenewing = true
            for subscription in subscriptions where lease.covers(subscription.path) {
                // because nothing else shall wait for what may never come again
                subscription.wasLive = false
                subscription.needsSnapshot = true
            }
        }
    }

    /// Asks again for what the last connection held.
    func renewLeases() {
        guard isRenewing else { return }
        isRenewing = false
        for lease in leases where lease.state == .asked && lease.waiters.isEmpty {
            ask(for: lease)
        }
    }

    /// There will be no leases any more.
    func failLeases(_ error: ClientError) {
        for lease in leases { end(lease, error) }
    }

    /// Whether something at `path` has to wait for a lease.
    func isUnleased(_ path: String) -> Bool {
        leases.contains { $0.state == .asked && $0.covers(path) }
    }

    private func followAgain(below lease: HeldLease) {
        guard stage == .live else { return }
        for index in nodes.indices where lease.covers(nodes[index].path) {
            sendOpen(UInt32(index))
        }
        for subscription in subscriptions
        where subscription.sliceID == nil && lease.covers(subscription.path) {
            send(subscription)
        }
    }
}
