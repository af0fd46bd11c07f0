import ReactorCore
import ReactorWire

/// Which actions may run.
package enum Admission: Sendable {
    /// All actions.
    case all
    /// Actions that make the tree smaller: the data directory has its maximum size.
    case limited
    /// Actions that make the tree smaller: the disk is full except for a reserve.
    case shrinking
    /// None: the journal cannot write.
    case full
    /// None: another daemon leads, and this one follows it.
    case following
    /// None, and no client is served: this daemon cannot reach its leader.
    case cut

    /// What the server does.
    package var mode: ServerMode {
        switch self {
        case .all, .limited, .shrinking: .leading
        case .full: .full
        case .following: .following
        case .cut: .cut
        }
    }

    /// Whether actions are refused because there is no space, all or those that add bytes.
    package var lacksSpace: Bool {
        switch self {
        case .limited, .shrinking, .full: true
        case .all, .following, .cut: false
        }
    }

    /// Whether only actions that make the tree smaller may run.
    package var isShrinking: Bool { self == .limited || self == .shrinking }

    /// The rejection of an action that may not run. `diskBytesMax` is the maximum size of the data
    /// directory.
    func rejection(diskBytesMax: UInt64) -> Rejection {
        switch self {
        case .all, .shrinking:
            Rejection(
                .diskFull,
                "the daemon's disk is full except for a reserve: until there is room, it accepts "
                    + "only actions that make states smaller")
        case .limited:
            Rejection(
                .diskFull,
                "the data directory has reached data.bytesMax, \(diskBytesMax) bytes: until it is "
                    + "smaller, the daemon accepts only actions that make states smaller; ask the "
                    + "operator to raise data.bytesMax and reload")
        case .full, .following, .cut:
            Rejection(
                .diskFull,
                "the daemon's disk is full: it serves reads, and refuses actions until there "
                    + "is room")
        }
    }
}

/// What a server does with the actions of its clients.
package enum ServerMode: Sendable {
    /// It decides them, as every daemon that is alone does.
    case leading
    /// It refuses them, and applies what another daemon decides.
    case following
    /// It serves no client, and applies what another daemon decides, as soon as it can reach that.
    case cut
    /// It refuses them, as its disk is full.
    case full
}

extension Outcome {
    /// Whether it is the rejection for a full disk.
    var isForLackOfSpace: Bool {
        guard case .rejected(FaultCode.diskFull.rawValue, _) = self else { return false }
        return true
    }
}
