import ReactorBytes
import ReactorWire

/// Decides which clients may connect: it counts the connections of each user, and those without a
/// hello.
///
///     if let refusal = admission.reasonToTurnAway(peer) { … } else { admission.admit(id, peer) }
///     admission.hear(connection)          // it sent its hello
///     admission.leave(connection)         // its socket is closed
///
/// *Place*: the server asks it before it admits a connection. *Shape*: every silent connection is
/// an admitted one.
final class PeerAdmission {
    /// Admitted connections that are open, without those at the administrators' socket.
    private var admitted = UserCounts()
    /// Open connections at the administrators' socket.
    private var adminCount = 0
    // Asked for each read, so it is kept.
    /// Whether several users have an admitted connection; administrators at their socket count as
    /// one.
    private(set) var hasSeveralUsers = false
    private let silent: Cell<SilentPool>
    /// The daemon's own user.
    private let ownerUID: UInt32?
    /// Maximum number of admitted connections.
    private var connectionsMax: Int
    /// Maximum number of one user's connections.
    private var perUIDMax: Int
    /// Number of connections that only the owner may take.
    private var reservedCount: Int
    /// True once the server is ending: no client is admitted.
    private(set) var isDraining = false
    /// Why no client is admitted except an administrator; nil if clients are.
    private var cutReason: String?
    /// True while the process is near its memory ceiling: only the owner is admitted.
    private var isShortOfMemory = false
    /// What callers may do; nil without rules.
    private var access: AccessTable?

    /// Maximum number of connections at the administrators' socket, beyond `connectionsMax`.
    static let adminConnectionsMax = 16

    /// Admits connections within `limits`. `ownerUID` is the user for whom
    /// ``ServerLimits/ownerConnectionsReserved`` are kept, if there is one.
    init(_ limits: ServerLimits, ownerUID: UInt32?) {
        silent = Cell(SilentPool(countMax: limits.handshakesMax))
        self.ownerUID = ownerUID
        connectionsMax = limits.connectionsMax
        perUIDMax = limits.connectionsPerUIDMax
        reservedCount = Self.reservedCount(limits, ownerUID)
    }

    // A daemon with few connections must still serve other users.
    private static func reservedCount(_ limits: ServerLimits, _ ownerUID: UInt32?) -> Int {
        ownerUID == nil ? 0 : min(limits.ownerConnectionsReserved, limits.connectionsMax / 2)
    }

    /// Applies other limits from the next connection on; admitted ones stay.
    func setLimits(_ limits: ServerLimits) {
        silent.value.countMax = limits.handshakesMax
        connectionsMax = limits.connectionsMax
        perUIDMax = limits.connectionsPerUIDMax
        reservedCount = Self.reservedCount(limits, ownerUID)
    }

    /// The reason why a peer may not connect now, as a code, a text and a label; nil if it may.
    /// `quota` is the number of connections that a rule lets its user have.
    func reasonToTurnAway(
        _ peer: Peer, quota: Int? = nil
    ) -> (FaultCode, String, RefusalReason)? {
        if isDraining { return (.draining, "the daemon is shutting down", .draining) }
        if isAdministrator(peer) { return reasonToTurnAwayAdmin() }
        if let cutReason { return (.cut, cutReason, .cut) }
        if isShortOfMemory, peer.uid != ownerUID {
            let text = "the daemon is near its memory ceiling, memoryMax: try again later"
            return (.busy, text, .memoryMax)
        }
        let reserved = peer.uid == ownerUID ? 0 : reservedCount
        if admitted.total >= connectionsMax - reserved {
            let rest = reserved == 0 ? "" : ", with \(reserved) reserved for the owner"
            let text = "connectionsMax \(connectionsMax) reached\(rest): try again later"
            return (.busy, text, .connectionsMax)
        }
        if admitted[peer.uid] >= quota ?? perUIDMax {
            let name = quota == nil ? "connectionsPerUIDMax" : "quotas.connections"
            let text = "\(name) \(quota ?? perUIDMax) reached for uid \(peer.uid)"
            return (.busy, text, .connectionsPerUIDMax)
        }
        return nil
    }

    /// Whether a peer is an administrator at the second socket.
    func isAdministrator(_ peer: Peer) -> Bool {
        peer.isAdministrator(ownerUID: ownerUID)
    }

    private func reasonToTurnAwayAdmin() -> (FaultCode, String, RefusalReason)? {
        guard adminCount >= Self.adminConnectionsMax else { return nil }
        let text = "the socket for administrators has \(adminCount) connections: close one of them"
        return (.busy, text, .connectionsMax)
    }

    /// Counts an admitted connection; returns the class of its peer. It is silent until
    /// ``hear(_:)``, unless the peer is an administrator at that socket.
    @discardableResult
    func admit(_ id: ConnectionID, _ peer: Peer) -> AccessClass? {
        if isAdministrator(peer) {
            adminCount += 1
        } else {
            admitted.count(1, of: peer.uid)
            silent.value.enter(id, of: peer.uid)
        }
        countUsers()
        invariants()
        return access(of: peer)
    }

    // MARK: Access

    /// Whether there are rules.
    var hasRules: Bool { access != nil }

    /// Continues with the rules of a former server.
    func succeed(_ former: PeerAdmission) { access = former.access }

    /// The class of a peer; nil if it may do everything.
    func access(of peer: Peer) -> AccessClass? { access?.access(of: peer) }

    /// Gives peers the rights of `rules` from now on; `ownerUID` is the daemon's own user. Returns
    /// whether the rules are others than before.
    func apply(_ rules: AccessRules, ownerUID: UInt32?) -> Bool {
        guard access?.rules != rules else { return false }
        access = access?.replaced(by: rules) ?? AccessTable(rules, ownerUID: ownerUID)
        return true
    }

    /// Records that a connection has sent its hello, or is not read any more.
    func hear(_ connection: Connection) {
        silent.value.leave(connection.id, of: connection.peer.uid)
    }

    /// Records that a connection's socket is closed. The connection may have been refused.
    func leave(_ connection: Connection) {
        hear(connection)
        if connection.isAdmitted, !connection.isRemote {
            if isAdministrator(connection.peer) {
                adminCount -= 1
            } else {
                admitted.count(-1, of: connection.peer.uid)
            }
            countUsers()
        }
        invariants()
    }

    private func countUsers() {
        hasSeveralUsers = admitted.userCount + (adminCount > 0 ? 1 : 0) > 1
    }

    /// Admits no other clients than the owner's while `isShortOfMemory` is true.
    func refuseOthers(while isShortOfMemory: Bool) { self.isShortOfMemory = isShortOfMemory }

    /// Whether only administrators are admitted: see ``cut(for:)``.
    var isCut: Bool { cutReason != nil }

    /// Admits only administrators while there is a reason.
    func cut(for reason: String?) { cutReason = reason }

    /// Stops admitting clients; returns whether that is new.
    func drain() -> Bool {
        defer { isDraining = true }
        return !isDraining
    }

    // MARK: Silence

    /// Whether too many connections are silent.
    var isCrowded: Bool { silent.value.isCrowded }

    /// Removes the silent connection that must be closed, if there are too many; `wasRead` returns
    /// whether a connection's socket was read since it was accepted.
    func takeExcess(_ wasRead: (ConnectionID) -> Bool) -> ConnectionID? {
        silent.value.takeExcess(wasRead)
    }

    /// Number of admitted connections that are open.
    var admittedCount: Int { admitted.total + adminCount }

    /// Number of connections without a hello.
    var silentCount: Int { silent.value.count }

    /// Checks the invariants, in debug builds.
    @inline(__always)
    private func invariants() {
        assert(
            silent.value.count <= admitted.total,
            "\(silent.value.count) connections are silent, \(admitted.total) are admitted")
    }
}
