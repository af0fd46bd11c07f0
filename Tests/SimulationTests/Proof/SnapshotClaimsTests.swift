import ReactorBytes
import ReactorTesting
import ReactorWire
import Testing

@testable import ReactorCore
@testable import ReactorServer

/// Claims and promises of nodes in snapshots.
struct SnapshotClaimsTests {
    private func act(
        _ server: Server, _ connection: UInt64, _ path: String, _ action: some WireCodable
    ) throws {
        let node = try #require(server.tree.node(at: SlicePath(path)))
        let caller = Caller(connection: connection, client: 0, uid: 0, gid: 0, pid: 0)
        let result = server.tree.dispatch(
            to: node, action.wireBytes().span, by: caller, ordinal: 0)
        #expect(result.sequence != nil)
    }

    private func endTurn(_ server: Server) -> [Batch] {
        server.endTurn(at: 0)
        return server.takeOutputs().compactMap { output in
            guard case .append(let batch) = output else { return nil }
            server.appended(batch.turn, at: 0)
            return batch
        }
    }

    private func beginSnapshot(of server: Server) throws -> ServerSnapshot {
        server.wantSnapshot()
        _ = endTurn(server)
        return try #require(server.snapshot)
    }

    @Test("J48: claims that change during a snapshot are recovered correctly")
    func claims() throws {
        let tree = HistoryCrowd.tree(epoch: 7)
        let server = Server(
            try Recovery(of: tree, limits: ServerLimits()).finish(epoch: 7, sequence: 0)
        ) { 1 }
        try act(server, 1, "/nest", Nest.Action.take)
        _ = endTurn(server)
        let snapshot = try beginSnapshot(of: server)
        try act(server, 1, "/nest", Nest.Action.give)
        try act(server, 1, "/nest", Nest.Action.take)
        try act(server, 1, "/nest/rooms", LeaseAction.lease(key: "x"))
        var rows = endTurn(server)
        try act(server, 1, "/nest/rooms", LeaseAction.release(key: "x"))
        try act(server, 2, "/nest/rooms", LeaseAction.lease(key: "x", definesLifecycle: false))
        try act(server, 2, "/nest", Nest.Action.take)
        rows += endTurn(server)
        let recovery = Recovery(of: HistoryCrowd.tree(epoch: 0), limits: ServerLimits())
        while !snapshot.isComplete {
            for part in snapshot.gather(3) { try recovery.restore(part()) }
            _ = endTurn(server)
        }
        for row in rows { try recovery.replay(row) }
        _ = try recovery.finish(epoch: 7, sequence: server.tree.revision.sequence)
        #expect(recovery.tree.copyOwnership()() == server.tree.copyOwnership()())
        #expect(recovery.tree.copyOwnership()().count == 3)
    }

    @Test("R108: the id of a promise is used once, even if the promising node is gone")
    func ids() throws {
        let server = Server(
            try Recovery(of: HistoryCrowd.tree(epoch: 7), limits: ServerLimits())
                .finish(epoch: 7, sequence: 0)
        ) { 1 }
        try act(server, 1, "/nest", Nest.Action.hatch(name: "a"))
        try act(server, 1, "/nest/cells/a", Cell.Action.stirLater(after: 5))
        try act(server, 1, "/nest", Nest.Action.fell(name: "a"))
        let rows = endTurn(server)
        #expect(server.tree.copyTasks()().isEmpty)
        let snapshot = try beginSnapshot(of: server)
        var parts: [[UInt8]] = []
        while !snapshot.isComplete {
            parts += snapshot.gather().map { $0() }
            _ = endTurn(server)
        }
        for (parts, rows) in [(parts, []), ([], rows)] {
            let recovery = Recovery(of: HistoryCrowd.tree(epoch: 0), limits: ServerLimits())
            for part in parts { try recovery.restore(part) }
            for row in rows { try recovery.replay(row) }
            let next = Server(try recovery.finish(epoch: 7, sequence: 3)) { 1 }
            try act(next, 1, "/nest", Nest.Action.plan(token: 1, after: 5))
            _ = endTurn(next)
            // Each epoch has its own ids in the upper half.
            #expect(next.tree.copyTasks()().map { $0.id & 0xffff_ffff } == [2])
        }
    }
}
