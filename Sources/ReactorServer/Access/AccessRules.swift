package import ReactorWire

/// The rules that decide which caller may do what, at which paths.
///
///     let table = AccessTable(rules, ownerUID: 1_000)
///     let access = table.access(of: peer)         // nil: every right everywhere
///
/// At a path, the longest of the paths above it and itself decides at which any rule names the
/// caller. The caller has the rights of all these rules together; a rule without rights beats the
/// others. Paths are compared by their decoded components.
///
/// *Place*: read from the configuration. A table of classes is made from it once.
package struct AccessRules: Equatable, Sendable {
    /// The rights where no rule names the caller.
    package var fallback: AccessRights
    /// The rules, in the order of the configuration, which has no meaning.
    package var rules: [Rule]

    /// One rule.
    package struct Rule: Equatable, Sendable {
        /// The path at and below which it holds.
        package var path: SlicePath
        /// The callers that it names.
        package var subject: Subject
        /// Their rights; none hides the path.
        package var rights: AccessRights

        /// Makes a rule.
        package init(_ path: SlicePath, to subject: Subject, may rights: AccessRights) {
            self.path = path
            self.subject = subject
            self.rights = rights
        }
    }

    /// The callers that a rule names.
    package enum Subject: Hashable, Sendable {
        /// Every caller.
        case anyone
        /// The user.
        case uid(UInt32)
        /// The members of the group, as the kernel reported them at the connect.
        case gid(UInt32)
    }

    /// Rules with a default.
    package init(_ rules: [Rule] = [], fallback: AccessRights = .none) {
        self.rules = rules
        self.fallback = fallback
    }
}

extension AccessRules.Subject {
    /// The user that stands for every user without a number in the daemon's user namespace.
    package static let unknownUID: UInt32 = 65_534

    /// Whether a rule names the peer. Nothing but ``anyone`` names an unknown user: that number
    /// stands for different users.
    package func names(_ peer: Peer) -> Bool {
        switch self {
        case .anyone: true
        case .uid(let uid): uid == peer.uid && uid != Self.unknownUID
        case .gid(let gid):
            peer.uid != Self.unknownUID && gid != Self.unknownUID
                && (gid == peer.gid || peer.groups.contains(gid))
        }
    }
}

/// The classes of callers that ``AccessRules`` distinguish.
///
/// *Shape*: callers that equal rules name share a class, also those of a replaced table. Its number
/// is never that of another class while the daemon runs.
package struct AccessTable {
    /// The rules.
    package let rules: AccessRules
    private let ownerUID: UInt32?
    private var classes: [[Int]: AccessClass] = [:]
    /// The classes of the table that this one replaces.
    private var former: [AccessClass] = []
    private var lastID: UInt32

    /// Maximum number of remembered classes; beyond it, all are dropped together. Connections keep
    /// theirs.
    private static let classesMax = 1_024

    /// Makes a table without classes; they get numbers above `lastID`.
    package init(_ rules: AccessRules, ownerUID: UInt32?, after lastID: UInt32 = 0) {
        self.rules = rules
        self.ownerUID = ownerUID
        self.lastID = lastID
    }

    /// A table for other rules. Callers that equal rules name keep their class.
    package func replaced(by rules: AccessRules) -> AccessTable {
        var table = AccessTable(rules, ownerUID: ownerUID, after: lastID)
        table.former = Array(classes.values)
        return table
    }

    /// The class of a caller; nil for root and the daemon's own user, which may do everything.
    package mutating func access(of peer: Peer) -> AccessClass? {
        // The number of unknown users may be that of the daemon's own user.
        let isOwner = peer.uid == ownerUID && peer.uid != AccessRules.Subject.unknownUID
        if peer.uid == 0 || isOwner { return nil }
        let named = rules.rules.indices.filter { rules.rules[$0].subject.names(peer) }
        if let known = classes[named] { return known }
        if classes.count >= Self.classesMax { classes.removeAll() }
        let naming = named.map { rules.rules[$0] }
        if let same = former.first(where: { $0.isMade(of: naming, fallback: rules.fallback) }) {
            classes[named] = same
            return same
        }
        lastID += 1
        let made = AccessClass(id: lastID, naming, fallback: rules.fallback)
        classes[named] = made
        return made
    }
}
