import ReactorBytes
import ReactorCore
import ReactorWire

/// Closes connections, and drops disconnected sessions, of users that keep more than their limit. It
/// has no state.
///
/// Of the connections and sessions of such a user, the heaviest goes first. A snapshot or an answer
/// that is larger than the limit does not end its connection if it is the only one: the limit holds
/// for the rest.
///
/// *Place*: ``Server/boundUsers(at:)``. *Cost*: O(connections and sessions), and for a user above
/// its limit O(what waits for it).
struct UserRelief {
    let limits: ServerLimits
    let meter: ServerMeter
    let intake: Intake
    let handshake: Handshake

    /// Checks all users.
    func apply() {
        guard limits.memoryPerUIDMax > 0 else { return }
        let above = meter.ledger.charges.filter { $0.value.total > limits.memoryPerUIDMax }
        for (uid, charge) in above.sorted(by: { $0.key < $1.key }) { bound(uid, charge) }
    }

    private func bound(_ uid: UInt32, _ charge: MemoryCharge) {
        // A connection that is being closed keeps its output for a short time.
        var connections = meter.connections.values.filter {
            $0.peer.uid == uid && !$0.isLeaving
        }
        var shared = SharedCharge()
        for connection in connections { shared.add(connection) }
        let byteCount = shared.total + charge.outcomes
        var excess = shared.totalBesidesLargest + charge.outcomes - limits.memoryPerUIDMax
        guard excess > 0 else { return }
        connections.sort { (weight($0), $1.id.rawValue) < (weight($1), $0.id.rawValue) }
        while excess > 0 {
            let session = handshake.sessions.heaviestLeft(of: uid)
            let weight = connections.last.map(weight) ?? 0
            if let session, session.weighedBytes > weight {
                excess -= session.weighedBytes
                handshake.evict(session)
            } else if weight > 0, let connection = connections.popLast() {
                excess -= weight
                expel(connection, weight, of: byteCount)
            } else {
                return
            }
        }
    }

    private func weight(_ connection: Connection) -> Int {
        MemoryCharge(of: connection).total + (connection.session?.outcomeBytes ?? 0)
    }

    private func expel(_ connection: Connection, _ weight: Int, of byteCount: Int) {
        let uid = connection.peer.uid
        intake.fail(
            connection, .quota,
            "memoryPerUIDMax \(limits.memoryPerUIDMax) bytes: the clients of uid \(uid) keep "
                + "\(byteCount), and this connection \(weight) of them: read faster, or send less")
    }
}
