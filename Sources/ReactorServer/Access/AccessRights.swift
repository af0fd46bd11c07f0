package import ReactorWire

/// What a caller may do at a path: verbs, and the actions that it may send.
///
/// *Shape*: each verb but ``AccessVerbs/admin`` includes ``AccessVerbs/see``. Names of actions are
/// empty if ``AccessVerbs/act`` allows every action.
package struct AccessRights: Hashable, Sendable {
    /// The verbs.
    package private(set) var verbs: AccessVerbs
    /// The cases of actions that the caller may send, if it may not send every action.
    package private(set) var actions: Set<WireKey>

    /// No right at all.
    package static let none = AccessRights([])
    /// Every right.
    package static let all = AccessRights(.all)
    /// To see, to read, and to send every action.
    package static let use = AccessRights([.see, .read, .act])

    /// The rights to do `verbs`, and to send these actions.
    package init(_ verbs: AccessVerbs, actions: Set<WireKey> = []) {
        let isSeeing = !verbs.isDisjoint(with: .seeing) || !actions.isEmpty
        self.verbs = isSeeing ? verbs.union(.see) : verbs
        self.actions = verbs.contains(.act) ? [] : actions
    }

    /// The rights of both.
    package func union(_ other: AccessRights) -> AccessRights {
        AccessRights(verbs.union(other.verbs), actions: actions.union(other.actions))
    }

    /// Whether the caller may send actions of the case `name`.
    package func allows(action name: WireKey) -> Bool {
        verbs.contains(.act) || actions.contains(name)
    }

    /// The same without verbs.
    package func subtracting(_ verbs: AccessVerbs) -> AccessRights {
        var rights = self
        rights.verbs.subtract(verbs)
        return rights
    }
}

/// The verbs of access rules.
package struct AccessVerbs: OptionSet, Hashable, Sendable {
    package let rawValue: UInt8

    package init(rawValue: UInt8) { self.rawValue = rawValue }

    /// To see that the node exists: `tree`, `describe`, the nearest name.
    package static let see = AccessVerbs(rawValue: 1 << 0)
    /// To read its state: `get`, subscriptions, checksums.
    package static let read = AccessVerbs(rawValue: 1 << 1)
    /// To send every action.
    package static let act = AccessVerbs(rawValue: 1 << 2)
    /// To read its past: `log`, `get --at`, `export`.
    package static let history = AccessVerbs(rawValue: 1 << 3)
    /// To release what another user owns.
    package static let own = AccessVerbs(rawValue: 1 << 4)
    /// To administer the daemon; granted at the root.
    package static let admin = AccessVerbs(rawValue: 1 << 5)

    /// Every verb.
    package static let all: AccessVerbs = [.see, .read, .act, .history, .own, .admin]
    /// The verbs that include ``see``.
    static let seeing: AccessVerbs = [.see, .read, .act, .history, .own]

    /// The verbs by the names in a configuration.
    package static let named: [(name: String, verb: AccessVerbs)] = [
        ("see", .see), ("read", .read), ("actions", .act), ("history", .history),
        ("own", .own), ("admin", .admin),
    ]
}

extension ServerStats {
    /// Counts a request or an action that lacked a verb.
    mutating func countDenial(of verb: AccessVerbs) {
        for named in AccessVerbs.named where verb.contains(named.verb) {
            countDenial(of: named.name)
        }
    }

    /// Counts a refusal of the shell, whose questions need ``AccessVerbs/admin``.
    mutating func countDenial(_ refusal: Refusal) {
        if refusal.code == .forbidden { countDenial(of: .admin) }
    }
}

extension Refusal {
    /// Refuses what a caller may not do at a path that it may see.
    init(forbidding verb: AccessVerbs, at path: SlicePath) {
        let names = AccessVerbs.named.filter { verb.contains($0.verb) }.map(\.name)
        self.init(
            .forbidden,
            "\(path): the access rules do not grant you \(names.joined(separator: " and ")), ask "
                + "the daemon's operator")
    }

    /// Refuses an answer that cannot leave out what is hidden.
    init(partial question: String, at path: SlicePath) {
        self.init(
            .forbidden,
            "\(path): \(question) would show what the access rules hide from you below it")
    }
}
