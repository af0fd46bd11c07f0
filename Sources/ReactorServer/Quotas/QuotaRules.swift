/// What the users of a daemon may use of it, apart from the limits that hold for every user.
///
///     let quota = rules.quota(of: peer)
///
/// *Place*: read from the configuration; ``UserQuotas`` applies them. *Shape*: a value. For each
/// kind, the first rule counts that names the peer and has the kind.
package struct QuotaRules: Equatable, Sendable {
    /// The rules, in the order of the configuration.
    package var rules: [Rule]

    /// One rule.
    package struct Rule: Equatable, Sendable {
        /// The users that it names.
        package var subject: AccessRules.Subject
        /// What each of them may use.
        package var quota: UserQuota

        /// Makes a rule.
        package init(to subject: AccessRules.Subject, _ quota: UserQuota) {
            self.subject = subject
            self.quota = quota
        }
    }

    /// Rules in their order.
    package init(_ rules: [Rule] = []) { self.rules = rules }

    /// What the user of a peer may use.
    package func quota(of peer: Peer) -> UserQuota {
        var quota = UserQuota()
        for rule in rules where rule.subject.names(peer) {
            quota.connectionsMax = quota.connectionsMax ?? rule.quota.connectionsMax
            quota.memoryMax = quota.memoryMax ?? rule.quota.memoryMax
            quota.actions = quota.actions ?? rule.quota.actions
            quota.journal = quota.journal ?? rule.quota.journal
        }
        return quota
    }

    /// Whether a rule names a group, so that the groups of peers must be known.
    package var namesGroups: Bool {
        rules.contains { rule in
            if case .gid = rule.subject { true } else { false }
        }
    }

    /// The smallest number of bytes that a rule lets a user keep; nil if no rule limits them.
    package var memoryMin: Int? { rules.compactMap(\.quota.memoryMax).min() }
}

/// What one user may use of a daemon; nil where the limit of every user holds, or none.
package struct UserQuota: Equatable, Sendable {
    /// Maximum number of connections, in place of ``ServerLimits/connectionsPerUIDMax``.
    package var connectionsMax: Int?
    /// Maximum bytes that its clients keep, in place of ``ServerLimits/memoryPerUIDMax``.
    package var memoryMax: Int?
    /// Maximum rate of new actions.
    package var actions: TokenRate?
    /// Maximum rate of bytes that its actions add to the journal.
    package var journal: TokenRate?

    /// No quota.
    package init() {}

    /// Whether it has a rate.
    var hasRates: Bool { actions != nil || journal != nil }
}

/// A number of tokens in a time: actions in a second, or bytes in an hour.
package struct TokenRate: Equatable, Sendable {
    /// The number, at least 1. As many may be used at once.
    package let amount: Int
    /// The time in nanoseconds, at least 1.
    package let nanoseconds: UInt64

    /// Makes a rate. *Traps*: if the number or the time is below 1.
    package init(_ amount: Int, in nanoseconds: UInt64) {
        precondition(amount > 0 && nanoseconds > 0, "a rate of \(amount) in \(nanoseconds) ns")
        self.amount = amount
        self.nanoseconds = nanoseconds
    }
}
