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
    private var handshake: Handshake { intake.handshake }

    /// A number of bytes that a user may keep, and its name in the configuration.
    private typealias Limit = (name: String, byteCount: Int)

    /// Checks all users.
    func boundAll() {
        let rules = intake.quotas.rules
        let least = [limits.memoryPerUIDMax, rules.memoryMin ?? 0].filter { $0 > 0 }.min()
        guard let least else { return }
        let above = meter.ledger.charges.filter { $0.value.total > least }
        for (uid, charge) in above.sorted(by: { $0.key < $1.key }) {
            // Groups are those of a connection: the latest counts that has a quota.
            let quota = meter.connections.inOrder.lazy.filter { $0.peer.uid == uid }
                .compactMap { rules.quota(of: $0.peer).memoryMax }.last
            let limit =
                quota.map { ("quotas.memory", $0) } ?? ("memoryPerUIDMax", limits.memoryPerUIDMax)
            if limit.1 > 0, charge.total > limit.1 { bound(uid, charge, limit) }
        }
    }

    private func bound(_ uid: UInt32, _ charge: MemoryCharge, _ limit: Limit) {
        // A connection that is being closed keeps its output for a short time.
        var connections = meter.connections.values.filter {
            $0.peer.uid == uid && !$0.isLeaving
        }
        var shared = SharedCharge()
        for connection in connections { shared.add(connection) }
        shared.add(past: charge.past)
        let byteCount = shared.total + charge.outcomes
        var excess = shared.totalBesidesLargest + charge.outcomes - limit.byteCount
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
                expel(connection, weight, of: byteCount, limit)
            } else {
                return
            }
        }
    }

    private func weight(_ connection: Connection) -> Int {
        MemoryCharge(of: connection).total + (connection.session?.outcomeBytes ?? 0)
    }

    private func expel(
        _ connection: Connection, _ weight: Int, of byteCount: Int, _ limit: Limit
    ) {
        let uid = connection.peer.uid
        intake.fail(
            connection, .quota,
            "\(limit.name) \(limit.byteCount) bytes: the clients of uid \(uid) keep "
                + "\(byteCount), and this connection \(weight) of them: read faster, or send less")
    }
}
