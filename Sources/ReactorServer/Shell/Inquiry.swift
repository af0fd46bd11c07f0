import ReactorBytes
package import ReactorWire

/// A client's question that the shell answers: about the past, from the journal, or about the
/// daemon.
package struct Inquiry: Sendable {
    /// The connection that asked.
    package let connection: ConnectionID
    /// The peer's identity, as the kernel reports it.
    package let peer: Peer
    /// The number of the request.
    package let number: UInt64
    /// The question.
    package let ask: Question
    /// When the question arrived, in nanoseconds.
    package var askedAt: UInt64 = 0
    /// Whether the access rules let the peer administer the daemon, although it is another user.
    package var isAdministrator = false
    /// If the path of a question about the past leads to a node that is hidden from the peer: the
    /// number of names before the hidden one. The answer is that for a node that never existed.
    package var seenCount: Int?
}

extension Inquiry {
    /// Maximum number of such questions that wait on one connection.
    package static let perConnectionMax = 8

    /// Whether the peer may see what all users do: the rules let it, or it is root or the user
    /// `ownerUID` of the daemon.
    package func mayAdminister(_ ownerUID: UInt32) -> Bool {
        isAdministrator || peer.uid == ownerUID || peer.uid == 0
    }
}

extension Question {
    /// Whether the shell answers the question from the journal.
    package var isAboutPast: Bool {
        switch self {
        case .past, .snapshot, .backup, .keepBackup, .log, .export: true
        case .get, .select, .describe, .tree, .stats, .limits, .checksum, .types, .metrics,
            .clients, .kick, .slowLog, .activity, .reload, .restart, .cluster, .stepDown, .sync:
            false
        }
    }

    /// The question's name and path, for the slow log.
    package var subject: (name: String, path: String?) {
        switch self {
        case .get(let path): ("get", path)
        case .select(let path, _): ("select", path)
        case .types(let path): ("types", path)
        case .describe(let path): ("describe", path)
        case .past(let path, _): ("past", path)
        case .log(let path, _, _, _): ("log", path)
        case .export(let path, _, _): ("export", path)
        case .checksum(let path, _): ("checksum", path)
        case .tree: ("tree", nil)
        case .stats: ("stats", nil)
        case .limits: ("limits", nil)
        case .snapshot: ("snapshot", nil)
        case .backup, .keepBackup: ("backup", nil)
        case .metrics: ("metrics", nil)
        case .clients: ("clients", nil)
        case .kick: ("kick", nil)
        case .slowLog: ("slowLog", nil)
        case .activity: ("activity", nil)
        case .reload: ("reload", nil)
        case .restart: ("restart", nil)
        case .cluster: ("cluster", nil)
        case .stepDown: ("stepDown", nil)
        case .sync: ("sync", nil)
        }
    }
}
