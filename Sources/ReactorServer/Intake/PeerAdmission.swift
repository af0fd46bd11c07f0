import ReactorBytes
import ReactorWire

/// Which clients may connect: how many connections all users have, and which of them have not said
/// hello.
///
///     if let refusal = admission.reasonToTurnAway(peer) { … } else { admission.admit(id, peer) }
///     admission.hear(connection)          // it said hello
///     admission.leave(connection)         // its socket is closed
///
/// *Place*: the server asks it before it admits a connection. *Shape*: a silent connection is an
/// admitted one.
final class PeerAdmission {
    /// Connections that were admitted and are open.
    private var admitted = UserCounts()
    private let silent: Place<SilentPool>
    /// The daemon's own user.
    private let ownerUID: UInt32?
    /// Most admitted connections.
    private let connectionsMax: Int
    /// Most of one user.
    private let perUIDMax: Int
    /// Connections that other users than the owner may not take.
    private let reservedCount: Int
    /// True once the server is ending: no client is admitted.
    private(set) var isDraining = false

    /// Admits what `limits` allow; `ownerUID` is the user for whom
    /// ``ServerLimits/ownerConnectionsReserved`` are kept, if there is one.
    init(_ limits: ServerLimits, ownerUID: UInt32?) {
        silent = Place(SilentPool(countMax: limits.handshakesMax))
        self.ownerUID = ownerUID
        connectionsMax = limits.connectionsMax
        perUIDMax = limits.connectionsPerUIDMax
        // A daemon with few connections serves other users all the same.
        reservedCount =
            ownerUID == nil ? 0 : min(limits.ownerConnectionsReserved, limits.connectionsMax / 2)
    }

    /// Why a peer may not connect now; nil if it may.
    func reasonToTurnAway(_ peer: Peer) -> (FaultCode, String)? {
        if isDraining { return (.draining, "the daemon is going down") }
        let reserved = peer.uid == ownerUID ? 0 : reservedCount
        if admitted.total >= connectionsMax - reserved {
            let rest = reserved == 0 ? "" : ", but for \(reserved) that are the owner's"
            return (.busy, "connectionsMax \(connectionsMax) reached\(rest): try again later")
        }
        if admitted[peer.uid] >= perUIDMax {
            return (.busy, "connectionsPerUIDMax \(perUIDMax) reached for uid \(peer.uid)")
        }
        return nil
    }

    /// Counts a connection that was not turned away; it is silent until it is heard.
    func admit(_ id: ConnectionID, _ peer: Peer) {
        admitted.count(1, of: peer.uid)
        silent.value.enter(id, of: peer.uid)
        invariants()
    }

    /// Records that a connection has said hello, or will not be read from any more.
    func hear(_ connection: Connection) {
        silent.value.leave(connection.id, of: connection.peer.uid)
    }

    /// Records that the socket of a connection is closed, which may have been turned away.
    func leave(_ connection: Connection) {
        hear(connection)
        if connection.isAdmitted { admitted.count(-1, of: connection.peer.uid) }
        invariants()
    }

    /// Admits no client any more; answers whether that is new.
    func drain() -> Bool {
        defer { isDraining = true }
        return !isDraining
    }

    // MARK: Silence

    /// Whether too many connections are silent.
    var isCrowded: Bool { silent.value.isCrowded }

    /// Takes out the silent connection that has to go, if there are too many; `wasRead` answers
    /// whether its socket was read since it connected.
    func takeExcess(_ wasRead: (ConnectionID) -> Bool) -> ConnectionID? {
        silent.value.takeExcess(wasRead)
    }

    /// Connections that were admitted and are open.
    var admittedCount: Int { admitted.total }

    /// Connections that have not said hello.
    var silentCount: Int { silent.value.count }

    /// What holds between two verbs; checked in debug builds.
    @inline(__always)
    private func invariants() {
        assert(
            silent.value.count <= admitted.total,
            "\(silent.value.count) connections are silent, \(admitted.total) are admitted")
    }
}
