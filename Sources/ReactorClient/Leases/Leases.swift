import ReactorCore

/// A claim to a child that a client leases; see ``ClientMachine/lease(_:definesLifecycle:then:)``.
package struct LeaseClaim: Hashable, Sendable {
    fileprivate let number: UInt64
}

/// A child that this client leases; its claims share one lease.
final class HeldLease {
    let path: SlicePath
    /// The child's key in its collection.
    let key: WireKey
    /// True where the end of the lease ends the child.
    fileprivate var definesLifecycle: Bool
    /// A lease whose last claim is released stays until its outcome is known, and may be claimed
    /// again.
    fileprivate var claims: Set<LeaseClaim> = []
    fileprivate var state = State.wanted
    /// Calls that wait for the lease.
    fileprivate var waiters: [Waiter] = []

    fileprivate struct Waiter {
        let claim: LeaseClaim
        let then: LeaseCompletion
    }

    fileprivate enum State: Equatable {
        /// Not requested yet: the collection's node is not open.
        case wanted
        /// Requested on this connection, with this wish about the end of the child.
        case asked(definesLifecycle: Bool)
        /// Granted; doubtful if the child or one of its ancestors was removed since.
        case held(isDoubtful: Bool)
        /// Its connection ended: the next connection requests it again.
        case lost

        var isHeld: Bool { if case .held = self { true } else { false } }
        var isOnItsWay: Bool { self != .lost && !isHeld }
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

    /// The action that requests the lease in its present state.
    func request() -> LeaseAction {
        state = .asked(definesLifecycle: definesLifecycle)
        return .lease(key: key, definesLifecycle: definesLifecycle)
    }

    /// True where a path is the child's, or below it.
    func covers(_ text: String) -> Bool {
        guard let other = try? SlicePath(text) else { return false }
        return other.components.starts(with: path.components)
    }
}

/// Called once the lease is held, or with the reason why it cannot be granted.
typealias LeaseCompletion = (Result<Void, ClientError>) -> Void

/// The children that a client leases. Requests each lease, again on each connection, until its
/// claims are released. The verbs return orders, which the caller executes in their order.
///
/// *Place*: a part of ``ClientMachine``.
struct Leases: ~Copyable {
    private var leases: [HeldLease] = []
    /// Claims so far.
    private var lastClaim: UInt64 = 0

    /// An order for the caller, about one lease.
    enum Order {
        /// Send ``HeldLease/request()`` to the collection, and pass the outcome to
        /// ``Leases/receive(_:of:after:)``.
        case ask(HeldLease)
        /// Give the lease back to the collection.
        case giveBack(HeldLease)
        case call(LeaseCompletion, Result<Void, ClientError>)
        /// End the subscriptions at and below the child.
        case unfollow(HeldLease, ClientError)
        /// Follow again the slices that waited for the lease, and then call ``Leases/renew()``.
        case follow(HeldLease)
    }

    var isEmpty: Bool { leases.isEmpty }
}

// MARK: - Claims
extension Leases {
    /// Claims the child at `path`; the returned path is `nil` where no child can be claimed there.
    mutating func claim(
        _ path: SlicePath?, definesLifecycle: Bool, then completion: @escaping LeaseCompletion
    ) -> (claim: LeaseClaim, orders: [Order]?) {
        defer { invariants() }
        lastClaim += 1
        let claim = LeaseClaim(number: lastClaim)
        guard let path, let new = HeldLease(path, definesLifecycle: definesLifecycle) else {
            return (claim, nil)
        }
        let known = leases.first { $0.path == path }
        let lease = known ?? new
        if known == nil { leases.append(new) }
        return (claim, join(lease, claim, isNew: known == nil, definesLifecycle, completion))
    }

    private func join(
        _ lease: HeldLease, _ claim: LeaseClaim, isNew: Bool, _ definesLifecycle: Bool,
        _ completion: @escaping LeaseCompletion
    ) -> [Order] {
        lease.claims.insert(claim)
        let isMore = definesLifecycle && !lease.definesLifecycle
        if isMore { lease.definesLifecycle = true }
        if lease.state == .held(isDoubtful: false), !isMore {
            return [.call(completion, .success(()))]
        }
        lease.waiters.append(HeldLease.Waiter(claim: claim, then: completion))
        // The outcome on its way, or the next connection, requests such a lease again.
        guard isNew || lease.state.isHeld else { return [] }
        lease.state = .wanted
        return [.ask(lease)]
    }

    /// Releases a claim, granted or not; does nothing for a claim that has ended.
    mutating func release(_ claim: LeaseClaim) -> [Order] {
        guard let lease = leases.first(where: { $0.claims.contains(claim) }) else { return [] }
        defer { invariants() }
        lease.claims.remove(claim)
        let waiters = lease.waiters.filter { $0.claim == claim }
        lease.waiters.removeAll { $0.claim == claim }
        // A program may claim a requested lease again before the daemon grants it.
        let isOver = lease.claims.isEmpty && !lease.state.isOnItsWay
        return (isOver ? drop(lease) : [])
            + waiters.map { .call($0.then, .failure(.cancelled)) }
    }

    /// Removes a lease without claims, and gives it back to the collection if it is held.
    private mutating func drop(_ lease: HeldLease) -> [Order] {
        leases.removeAll { $0 === lease }
        return [lease.state.isHeld ? .giveBack(lease) : .follow(lease)]
    }
}

// MARK: - Outcomes
extension Leases {
    /// Takes the outcome of a lease's request; `end` says why the client has ended, if it has.
    mutating func receive(
        _ outcome: ActionOutcome, of lease: HeldLease, after end: ClientError?
    ) -> [Order] {
        switch outcome {
        case .applied, .accepted: return grant(lease)
        case .ownerEnded, .unknown:
            // The leases of the last connection ended with it; request the lease on this one.
            if let end { return self.end(lease, end) }
            if lease.claims.isEmpty { return drop(lease) }
            lease.state = .wanted
            return [.ask(lease)]
        case .rejected(let rejection):
            return self.end(lease, .leaseRefused(path: lease.path.description, rejection))
        case .failed(let message): return self.end(lease, end ?? .daemonFault(message))
        }
    }

    private mutating func grant(_ lease: HeldLease) -> [Order] {
        defer { invariants() }
        let asked = lease.state
        lease.state = .held(isDoubtful: false)
        guard !lease.claims.isEmpty else { return [.follow(lease)] + drop(lease) }
        // A claim with `definesLifecycle` may have come after a request without it.
        guard asked == .asked(definesLifecycle: lease.definesLifecycle) else {
            lease.state = .wanted
            return [.ask(lease)]
        }
        let waiters = lease.waiters
        lease.waiters = []
        return [.follow(lease)] + waiters.map { .call($0.then, .success(())) }
    }

    /// Ends a lease that cannot be granted.
    mutating func end(_ lease: HeldLease, _ error: ClientError) -> [Order] {
        guard leases.contains(where: { $0 === lease }) else { return [] }
        defer { invariants() }
        leases.removeAll { $0 === lease }
        let waiters = lease.waiters
        lease.waiters = []
        var orders = waiters.map { Order.call($0.then, .failure(error)) }
        // The daemon may still have the child, for other clients; these claims do not hold it.
        if !lease.claims.isEmpty { orders.append(.unfollow(lease, error)) }
        return orders + [.follow(lease)]
    }

    /// Ends all leases with the client.
    mutating func endAll(_ error: ClientError) -> [Order] { leases.flatMap { end($0, error) } }

    /// Marks the held leases at and below `path` as doubtful: something at `path` was removed.
    mutating func doubt(from path: String) {
        guard !leases.isEmpty, let path = try? SlicePath(path) else { return }
        for lease in leases
        where lease.state.isHeld && lease.path.components.starts(with: path.components) {
            lease.state = .held(isDoubtful: true)
        }
    }
}

// MARK: - Connections
extension Leases {
    /// Marks every lease as lost: its connection has ended.
    mutating func loseConnection() {
        defer { invariants() }
        // A removed child is not leased again before a program claims it.
        leases.removeAll { $0.state == .held(isDoubtful: true) }
        for lease in leases where lease.state.isHeld { lease.state = .lost }
    }

    /// Requests again the leases that the last connection held.
    mutating func renew() -> [Order] {
        // The collection of a lease may itself be in the child of another.
        let lost = leases.filter {
            $0.state == .lost && !isUnleased($0.collection.description)
        }
        for lease in lost { lease.state = .wanted }
        return lost.map { .ask($0) }
    }

    /// True where a slice or node at `path` has to wait for a lease.
    func isUnleased(_ path: String) -> Bool {
        leases.contains { !$0.state.isHeld && $0.covers(path) }
    }

    /// True where `path` is in a child that is leased, or whose lease is wanted.
    func covers(_ path: String) -> Bool { leases.contains { $0.covers(path) } }

    /// Traps in a debug build unless each child has one lease, and no lease without claims has
    /// waiters.
    private func invariants() {
        assert(
            Set(leases.map { ObjectIdentifier($0) }).count == leases.count
                && Set(leases.map(\.path.description)).count == leases.count,
            "two leases are of one child")
        assert(
            leases.allSatisfy { lease in
                lease.waiters.allSatisfy { lease.claims.contains($0.claim) }
            }, "a call waits for a lease without a claim")
        assert(
            leases.allSatisfy { !$0.claims.isEmpty || $0.state.isOnItsWay },
            "a lease is kept without a claim")
    }
}
