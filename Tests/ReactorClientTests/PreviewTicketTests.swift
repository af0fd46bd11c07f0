import Observation
import ReactorCore
import ReactorServer
import StockReactors
import Testing

@testable import ReactorClient

@Suite("Previews on a mirror", .timeLimit(.minutes(10)))
struct PreviewTicketTests {
    /// A client with a mirror of the root, which is a tab.
    private func start(_ rig: Rig) throws -> (Rig.Joined, Mirror<Tab>, NodeID) {
        let client = rig.client()
        let node = try client.open("/", rig)
        var result: Result<Mirror<Tab>, ClientError>?
        client.machine.mirror(Tab(), at: "/") { result = $0 }
        rig.run()
        return (client, try #require(try result?.get()), node)
    }

    private func tab(_ rig: Rig) throws -> Tab.State {
        try #require(rig.server.tree.root as? Node<Tab>).state
    }

    @Test("F70: the caller sees its own action at once, and once only when it is answered")
    func atOnce() throws {
        let rig = Rig(tree: Tree(Tab(), epoch: 7))
        let (client, mirror, node) = try start(rig)
        var outcomes: [ActionOutcome] = []
        try client.machine.submit(
            OutgoingAction(.add(5), previewedOn: mirror, to: node)
        ) { outcomes.append($0) }
        #expect(mirror.entries == [5] && outcomes.isEmpty)
        #expect(try tab(rig).entries == [])
        // A state that is wrong for a moment only would be an error too.
        var seen: [[Int]] = []
        for _ in 0..<50 {
            rig.run(rounds: 1)
            seen.append(mirror.entries)
        }
        #expect(Set(seen) == [[5]] && outcomes.count == 1)
        #expect(try tab(rig).entries == [5])
    }

    @Test("F70: a rejection restores the daemon's state, and observers are woken")
    func rollBack() throws {
        let rig = Rig(tree: Tree(Tab(), epoch: 7))
        let (client, mirror, node) = try start(rig)
        try client.machine.submit(
            OutgoingAction(.add(1), previewedOn: mirror, to: node))
        try client.machine.submit(
            OutgoingAction(.add(11), previewedOn: mirror, to: node)
        ) { outcome in
            // The completion of a rejected action must not see its preview.
            #expect(!mirror.entries.contains(11))
            guard case .rejected(let rejection) = outcome else {
                Issue.record("11 were not too much: \(outcome)")
                return
            }
            #expect(rejection.code == "too_much")
        }
        try client.machine.submit(
            OutgoingAction(.add(3), previewedOn: mirror, to: node))
        #expect(mirror.entries == [1, 11, 3])
        var seen: [[Int]] = []
        let changes = Notes<Bool>()
        var told = -1
        for _ in 0..<50 {
            if changes.all.count != told {
                told = changes.all.count
                withObservationTracking {
                    seen.append(mirror.entries)
                } onChange: {
                    changes.add(true)
                }
            }
            rig.run(rounds: 1)
        }
        #expect(seen.first == [1, 11, 3] && seen.last == [1, 3])
        #expect(try mirror.state == tab(rig))
    }

    @Test("F70: other clients' changes go below a client's own actions without an outcome")
    func replay() throws {
        let rig = Rig(tree: Tree(Tab(), epoch: 7))
        let (client, mirror, node) = try start(rig)
        let (other, _, otherNode) = try start(rig)
        try other.machine.dispatch(Tab.Action.add(7), to: otherNode)
        client.upBudget = 0
        try client.machine.submit(
            OutgoingAction(.add(5), previewedOn: mirror, to: node))
        var seen: [[Int]] = []
        for _ in 0..<200 {
            if seen.last != mirror.entries { seen.append(mirror.entries) }
            rig.run(rounds: 1)
        }
        #expect(seen == [[5], [7, 5]])
        #expect(try tab(rig).entries == [7, 5])
    }

    @Test("F70: effects of a preview are dropped, and decisions that need the daemon wait")
    func notShown() throws {
        let rig = Rig(tree: Tree(Tab(), epoch: 7))
        let (client, mirror, node) = try start(rig)
        try client.machine.submit(
            OutgoingAction(.work, previewedOn: mirror, to: node))
        try client.machine.submit(
            OutgoingAction(.look, previewedOn: mirror, to: node))
        #expect(mirror.state == Tab.State(entries: [2]))
        rig.run()
        #expect(mirror.entries == [2, 1])
    }

    @Test("F70: previews survive a connection, and an action that was applied is not shown twice")
    func reconnect() throws {
        for budget in 0..<60 {
            let rig = Rig(tree: Tree(Tab(), epoch: 7))
            let (client, mirror, node) = try start(rig)
            client.downBudget = budget
            try client.machine.submit(
                OutgoingAction(.add(5), previewedOn: mirror, to: node))
            try client.machine.submit(
                OutgoingAction(.add(6), previewedOn: mirror, to: node))
            for _ in 0..<60 {
                rig.run(rounds: 1)
                #expect(mirror.entries == [5, 6], "cut after \(budget) bytes")
            }
            rig.run()
            #expect(try tab(rig).entries == [5, 6] && !client.machine.figures.hasPreviews)
        }
    }

    @Test("F70: a preview ends when its action can have no outcome any more")
    func unknown() async throws {
        let first = try LiveServer(Tab())
        let client = try await Client.connect(to: first.path, options: .brisk)
        let mirror = try await client.mirror(Tab.self, at: "/")
        #expect(await mirror.dispatch(.add(1), isPreviewed: true).revision != nil)
        await first.hold()
        async let lost = mirror.dispatch(.add(2), isPreviewed: true)
        await first.until { $0.actionCount == 2 }
        #expect(mirror.entries == [1, 2])
        first.stop()
        let second = try LiveServer(in: first.folder, epoch: 8, Tab())
        #expect(await lost == .unknown(.historyLost))
        await mirror.until { $0.phase == .live }
        #expect(mirror.entries == [])
        client.close()
        second.stop()
    }

    @Test("F70: an action is previewed, sent, answered and taken back, in two processes")
    func live() async throws {
        let server = try LiveServer(Tab())
        let client = try await Client.connect(to: server.path)
        let mirror = try await client.mirror(Tab.self, at: "/")
        await server.hold()
        #expect(mirror.send(.add(4), isPreviewed: true))
        #expect(mirror.send(.add(40), isPreviewed: true))
        #expect(mirror.entries == [4, 40])
        await server.release()
        try await client.drain()
        #expect(mirror.entries == [4])
        client.close()
        #expect(!mirror.send(.add(5), isPreviewed: true) && mirror.entries == [4])
    }

    @Test("F70: a mirror of other types follows the value, and previews nothing")
    func valueMode() async throws {
        let server = try LiveServer()
        let client = try await Client.connect(to: server.path)
        let mirror = try await client.mirror(Other.Counter.self, at: "/visits")
        await server.hold()
        #expect(mirror.send(.jump(to: 5), isPreviewed: true))
        #expect(mirror.count == 0)
        client.close()
    }
}
