import ReactorBytes

/// Keeps users to their ``QuotaRules``: it counts what their actions use, and stops reading from a
/// user that has used all it may until some of it is available again.
///
///     quotas.join(connection)                             // after its hello
///     quotas.charge(listed, batchByteCount: 800)          // at the end of a turn
///     for connection in quotas.takeReady(at: now) { … }   // at the time of an order to wake
///
/// Usage is read at the end of a turn, from the counters that an ``Outlet`` needs for its own limit,
/// so an action costs nothing more. A turn may use more than is left: see ``TokenBucket``.
///
/// *Place*: ``TurnSealer`` has it charge each turn; the server passes it connections. *Shape*: a
/// user has an account exactly while it has a rate, and a connection or tokens to be returned.
/// ``invariants()`` states the invariants.
final class UserQuotas {
    /// The rules.
    private(set) var rules = QuotaRules()
    // In a cell, so that no turn needs an exclusivity check at run time.
    private let accounts = Cell<[UInt32: Account]>([:])
    private let connections: ConnectionTable
    private let orders: ShellOrders
    /// The daemon's own user.
    private let ownerUID: UInt32?
    /// The time of the last order to wake the server, in nanoseconds; nil if it was carried out.
    private var wakeTime: UInt64?

    /// What a user with a rate has left.
    private struct Account {
        var actions: TokenBucket?
        var journal: TokenBucket?
        /// Whether the server reads nothing from the user's clients.
        var isPaused = false

        init(_ quota: UserQuota, at now: UInt64) { apply(quota, at: now) }

        var buckets: [TokenBucket] { [actions, journal].compactMap { $0 } }
        var isEmpty: Bool { buckets.contains(where: \.isEmpty) }
        var isFull: Bool { buckets.allSatisfy(\.isFull) }
        var readyTime: UInt64 { buckets.map(\.readyTime).max() ?? 0 }

        mutating func apply(_ quota: UserQuota, at now: UInt64) {
            actions = Self.bucket(actions, quota.actions, now)
            journal = Self.bucket(journal, quota.journal, now)
        }

        private static func bucket(
            _ former: TokenBucket?, _ rate: TokenRate?, _ now: UInt64
        ) -> TokenBucket? {
            guard let rate else { return nil }
            var bucket = former ?? TokenBucket(rate, at: now)
            bucket.change(to: rate, at: now)
            return bucket
        }

        mutating func withdraw(actions count: Int, journal byteCount: Int, at now: UInt64) {
            actions?.withdraw(count, at: now)
            journal?.withdraw(byteCount, at: now)
        }

        mutating func inherit(actions: TokenLevel?, journal: TokenLevel?) {
            if let rate = self.actions?.rate, let actions {
                self.actions = TokenBucket(rate, level: actions.level, at: actions.time)
            }
            if let rate = self.journal?.rate, let journal {
                self.journal = TokenBucket(rate, level: journal.level, at: journal.time)
            }
        }

        mutating func fill(at now: UInt64) {
            actions?.fill(at: now)
            journal?.fill(at: now)
        }
    }

    init(_ connections: ConnectionTable, _ orders: ShellOrders, ownerUID: UInt32?) {
        self.connections = connections
        self.orders = orders
        self.ownerUID = ownerUID
    }

    /// Whether a user has a rate: turns are charged.
    var hasRates: Bool { !accounts.value.isEmpty }

    /// Maximum number of connections of a peer's user; nil if no rule says it.
    func connectionsMax(of peer: Peer) -> Int? {
        rules.rules.isEmpty ? nil : rules.quota(of: peer).connectionsMax
    }

    /// The connections from which the server reads nothing until tokens are returned.
    var paused: [Connection] {
        let uids = accounts.value.filter(\.value.isPaused)
        return uids.isEmpty ? [] : connections.values.filter { $0.inlet.value.isThrottled }
    }

    /// Checks the invariants, in debug builds.
    @inline(__always)
    private func invariants() {
        assert(
            accounts.value.values.allSatisfy { !$0.buckets.isEmpty },
            "a user has an account and no rate")
        assert(
            wakeTime != nil || !accounts.value.values.contains(where: \.isPaused),
            "a user is paused, and no order will wake the server")
    }
}

// MARK: - Rules
extension UserQuotas {
    /// Applies other rules; returns the connections that are read from again. The groups of peers
    /// must be known.
    func apply(_ rules: QuotaRules) -> [Connection] {
        self.rules = rules
        var quotas: [UInt32: UserQuota] = [:]
        for connection in connections.inOrder where isCharged(connection) {
            let (uid, quota) = (connection.peer.uid, rules.quota(of: connection.peer))
            // The latest connection counts that has a rate.
            if quota.hasRates || quotas[uid] == nil { quotas[uid] = quota }
        }
        for (uid, quota) in quotas { update(uid, quota) }
        // A user without a connection has lost its groups; its tokens are kept as they are.
        if rules.rules.isEmpty { accounts.value = [:] }
        wakeTime = 0
        return takeReady(at: orders.now)
    }

    /// Continues with the rules and the accounts of a former server, whose connections are closed.
    func succeed(_ former: UserQuotas) {
        rules = former.rules
        accounts.value = former.accounts.value
        orderWake()
    }

    /// What is left to each user: of actions and of journal bytes, each nil without a rate, as of
    /// the time in nanoseconds.
    var levels: [(uid: UInt32, actions: TokenLevel?, journal: TokenLevel?)] {
        accounts.value.sorted { $0.key < $1.key }.map { uid, account in
            (uid, account.actions.map(TokenLevel.init), account.journal.map(TokenLevel.init))
        }
    }

    /// Continues with what a former process left to a user that has a rate here. The user's
    /// connections have joined.
    func inherit(_ uid: UInt32, actions: TokenLevel?, journal: TokenLevel?) {
        guard accounts.value[uid] != nil else { return }
        accounts.value[uid]?.inherit(actions: actions, journal: journal)
        withdraw(0, journal: 0, of: uid)
    }

    private func update(_ uid: UInt32, _ quota: UserQuota) {
        if !quota.hasRates {
            accounts.value[uid] = nil
        } else if accounts.value[uid] == nil {
            accounts.value[uid] = Account(quota, at: orders.now)
        } else {
            accounts.value[uid]?.apply(quota, at: orders.now)
        }
    }

    /// Whether what a connection does counts: an administrator is not slowed down by its user.
    private func isCharged(_ connection: Connection) -> Bool {
        connection.isAdmitted && !connection.peer.isAdministrator(ownerUID: ownerUID)
    }
}

// MARK: - Usage
extension UserQuotas {
    /// Records that a client has sent its hello. It waits if its user is paused.
    func join(_ connection: Connection) {
        guard !rules.rules.isEmpty, isCharged(connection) else { return }
        let uid = connection.peer.uid
        let quota = rules.quota(of: connection.peer)
        // A connection without the group that a rule names must not end what the user owes.
        if quota.hasRates { update(uid, quota) }
        if accounts.value[uid]?.isPaused ?? false { throttle(connection) }
        invariants()
    }

    /// Charges the actions of a turn to their users, and pauses those that have nothing left.
    /// `listed` are the turn's connections; the bytes of the turn's batch are shared among those
    /// that acted, by the bytes of their actions.
    func charge(_ listed: borrowing ReferenceList<Connection>, batchByteCount: Int) {
        var used: [UInt32: ActionCount] = [:]
        var byteCount = 0
        listed.visit { connection in
            var actions = connection.outlet.value.turnActions
            guard actions.count > 0 else { return }
            actions.count += connection.outlet.value.furtherActions
            byteCount += actions.byteCount
            if isCharged(connection) {
                used[connection.peer.uid, default: ActionCount()] += actions
            }
        }
        for (uid, actions) in used.sorted(by: { $0.key < $1.key }) {
            let share = Double(actions.byteCount) / Double(max(byteCount, 1))
            withdraw(actions.count, journal: Int(Double(batchByteCount) * share), of: uid)
        }
    }

    /// Charges a connection that ends within a turn for its actions in that turn. The bytes of
    /// their deltas are not known yet, so those of the actions count.
    func leave(_ connection: Connection) {
        let actions = connection.outlet.value.turnActions
        guard hasRates, actions.count > 0, isCharged(connection) else { return }
        withdraw(
            actions.count + connection.outlet.value.furtherActions, journal: actions.byteCount,
            of: connection.peer.uid)
    }

    private func withdraw(_ count: Int, journal byteCount: Int, of uid: UInt32) {
        accounts.value[uid]?.withdraw(actions: count, journal: byteCount, at: orders.now)
        guard let account = accounts.value[uid], account.isEmpty, !account.isPaused else { return }
        accounts.value[uid]?.isPaused = true
        orders.stats.quotaPauses &+= 1
        let own = inOrder { $0.peer.uid == uid && $0.isOpen && isCharged($0) }
        for connection in own { throttle(connection) }
        orderWake()
        invariants()
    }

    /// Connections in the order of their arrival: few of all are sorted.
    private func inOrder(where isMeant: (Connection) -> Bool) -> [Connection] {
        connections.values.filter(isMeant).sorted { $0.id.rawValue < $1.id.rawValue }
    }

    private func throttle(_ connection: Connection) {
        if connection.inlet.value.throttle() { orders.append(.pauseReading(connection.id)) }
    }

    /// Forgets users without connections that have all their tokens.
    func forgetIdle(at now: UInt64) {
        guard hasRates else { return }
        var present: Set<UInt32> = []
        for connection in connections.values { present.insert(connection.peer.uid) }
        for uid in accounts.value.keys where !present.contains(uid) {
            accounts.value[uid]?.fill(at: now)
            if let account = accounts.value[uid], account.isFull, !account.isPaused {
                accounts.value[uid] = nil
            }
        }
        invariants()
    }
}

// MARK: - The end of a pause
extension UserQuotas {
    /// Ends the pauses of users that have tokens again. Returns their connections, which are paused
    /// as others are that may be read from.
    func takeReady(at now: UInt64) -> [Connection] {
        guard let wakeTime, wakeTime <= now else { return [] }
        self.wakeTime = nil
        var stillPaused: Set<UInt32> = []
        for uid in accounts.value.keys where accounts.value[uid]?.isPaused ?? false {
            accounts.value[uid]?.fill(at: now)
            if accounts.value[uid].map({ $0.readyTime > now }) ?? false {
                stillPaused.insert(uid)
            } else {
                accounts.value[uid]?.isPaused = false
            }
        }
        orderWake()
        invariants()
        return inOrder(where: {
            !stillPaused.contains($0.peer.uid) && $0.inlet.value.unthrottle()
        })
    }

    /// Orders the shell to wake the server when the first paused user may go on, unless an earlier
    /// order does.
    private func orderWake() {
        let times = accounts.value.values.filter(\.isPaused).map(\.readyTime)
        guard let first = times.min(), wakeTime.map({ first < $0 }) ?? true else { return }
        wakeTime = first
        orders.append(.wake(at: first))
    }
}
