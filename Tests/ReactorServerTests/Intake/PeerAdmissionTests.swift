import ReactorWire
import Testing

@testable import ReactorServer

/// The clients that may connect, tested without a server.
struct PeerAdmissionTests {
    private func admission(
        ownerUID: UInt32? = nil, change: (inout ServerLimits) -> Void
    ) -> PeerAdmission {
        var limits = ServerLimits()
        change(&limits)
        return PeerAdmission(limits, ownerUID: ownerUID)
    }

    private func peer(_ uid: UInt32) -> Peer { Peer(uid: uid, gid: uid, pid: 1) }

    /// Admits a connection, unless the admission refuses it.
    private func connect(
        _ number: UInt64, _ uid: UInt32, _ admission: PeerAdmission
    ) -> Connection {
        let isAdmitted = admission.reasonToTurnAway(peer(uid)) == nil
        let connection = Connection(
            id: ConnectionID(number), peer: peer(uid),
            isAdmitted ? .admitted(at: 0, turn: 0) : .turnedAway)
        if isAdmitted { admission.admit(connection.id, connection.peer) }
        return connection
    }

    @Test("an ended connection makes room, and a refused one does not")
    func room() {
        let admission = admission { $0.connectionsMax = 1 }
        let first = connect(1, 5, admission)
        let second = connect(2, 6, admission)
        #expect(first.isAdmitted && !second.isAdmitted)
        #expect(admission.reasonToTurnAway(peer(6))?.0 == .busy)
        admission.leave(second)
        #expect(admission.admittedCount == 1)
        admission.leave(first)
        #expect(admission.admittedCount == 0 && admission.reasonToTurnAway(peer(6)) == nil)
    }

    @Test("one user's connections are limited, and the owner's reserve is for the owner alone")
    func users() {
        let admission = admission(ownerUID: 1) {
            $0.connectionsMax = 4
            $0.connectionsPerUIDMax = 2
            $0.ownerConnectionsReserved = 4
        }
        _ = connect(1, 5, admission)
        #expect(connect(2, 5, admission).isAdmitted)
        // At most half of the places are the owner's.
        #expect(admission.reasonToTurnAway(peer(6))?.1.contains("2 reserved for the owner") == true)
        #expect(connect(3, 1, admission).isAdmitted && connect(4, 1, admission).isAdmitted)
        #expect(admission.reasonToTurnAway(peer(1))?.0 == .busy)
    }

    @Test(
        "administrators connect at their socket when clients have all connections, or memory is short"
    )
    func administrators() {
        let admission = admission(ownerUID: 1) { $0.connectionsMax = 1 }
        let admin = Peer(uid: 1, gid: 1, pid: 1, isAtAdminSocket: true)
        #expect(connect(1, 5, admission).isAdmitted && !connect(2, 1, admission).isAdmitted)
        admission.refuseOthers(while: true)
        let connections = (0..<PeerAdmission.adminConnectionsMax).map { number in
            #expect(admission.reasonToTurnAway(admin) == nil)
            let id = ConnectionID(UInt64(number) + 10)
            admission.admit(id, admin)
            return Connection(id: id, peer: admin, .admitted(at: 0, turn: 0))
        }
        #expect(admission.reasonToTurnAway(admin)?.0 == .busy)
        #expect(admission.admittedCount == 17 && admission.silentCount == 1)
        let stranger = Peer(uid: 5, gid: 5, pid: 1, isAtAdminSocket: true)
        #expect(admission.reasonToTurnAway(stranger)?.2 == .memoryMax)
        admission.leave(connections[0])
        #expect(admission.reasonToTurnAway(admin) == nil && admission.admittedCount == 16)
    }

    @Test("a connection is silent until its first frame, and a drained server admits no client")
    func silence() {
        let admission = admission { $0.handshakesMax = 1 }
        let first = connect(1, 5, admission)
        let second = connect(2, 5, admission)
        #expect(admission.isCrowded && admission.silentCount == 2)
        #expect(admission.takeExcess { _ in false } == nil)
        #expect(admission.takeExcess { _ in true } == first.id)
        #expect(!admission.isCrowded && admission.admittedCount == 2)
        admission.hear(second)
        #expect(admission.silentCount == 0)
        #expect(admission.drain() && !admission.drain())
        #expect(admission.reasonToTurnAway(peer(5))?.0 == .draining)
    }

    @Test("lower limits keep the admitted connections, and apply to the next")
    func limits() {
        let admission = admission { $0.connectionsMax = 8 }
        let open = (1...4).map { connect($0, 5, admission) }
        var limits = ServerLimits()
        limits.connectionsMax = 2
        limits.handshakesMax = 2
        admission.setLimits(limits)
        #expect(admission.admittedCount == 4 && admission.isCrowded)
        #expect(admission.reasonToTurnAway(peer(6))?.1.contains("connectionsMax 2") == true)
        for connection in open.prefix(3) { admission.leave(connection) }
        #expect(admission.reasonToTurnAway(peer(6)) == nil && !admission.isCrowded)
    }
}
