import ReactorCore
import ReactorServer
import StockReactors
import Testing

@testable import ReactorClient

/// The claims of one client to leased children, against a server.
@Suite("Claims to leases")
struct LeaseClaimTests {
    private let rig = Rig(tree: Tree(Guesthouse(), epoch: 7))

    /// The results that claims received, in order.
    private final class Answers {
        var all: [Result<Void, ClientError>] = []
        var granted: Int { all.filter { if case .success = $0 { true } else { false } }.count }
    }

    private func claim(
        _ client: Rig.Joined, _ answers: Answers, defines: Bool = true
    ) -> LeaseClaim {
        client.machine.lease("/rooms/7", definesLifecycle: defines) { answers.all.append($0) }
    }

    @Test("F74: a claim to a lease that a lost connection held is answered by the next connection")
    func whileLost() {
        let client = rig.client()
        let answers = Answers()
        _ = claim(client, answers)
        rig.run()
        #expect(answers.granted == 1)
        rig.cut(client)
        _ = claim(client, answers)
        #expect(answers.granted == 1)
        rig.run()
        #expect(answers.granted == 2 && rig.roomCount == 1)
    }

    @Test("F74: a lease that is claimed again before it is granted is kept")
    func revived() {
        let client = rig.client()
        rig.run()
        let answers = Answers()
        let first = claim(client, answers)
        client.machine.release(first)
        #expect(answers.all.count == 1 && answers.granted == 0)
        let second = claim(client, answers)
        rig.run()
        #expect(answers.granted == 1 && rig.roomCount == 1)
        client.machine.release(second)
        rig.run()
        #expect(rig.roomCount == 0 && !client.machine.figures.hasLeases)
    }

    @Test("F74: a lease without claims is given back when it is granted")
    func unwanted() {
        let client = rig.client()
        rig.run()
        let answers = Answers()
        client.machine.release(claim(client, answers))
        rig.run()
        #expect(rig.roomCount == 0 && !client.machine.figures.hasLeases)
        rig.cut(client)
        client.machine.release(claim(client, answers))
        rig.run()
        #expect(rig.roomCount == 0 && !client.machine.figures.hasLeases)
    }

    @Test("F74: a claim can be released once, and releases no other claim")
    func identity() {
        let client = rig.client()
        let answers = Answers()
        let first = claim(client, answers)
        _ = claim(client, answers)
        rig.run()
        client.machine.release(first)
        client.machine.release(first)
        rig.run()
        #expect(answers.granted == 2 && rig.roomCount == 1)
    }

    @Test("F74: a child that its parent removed is made again for the next lease")
    func evicted() throws {
        let client = rig.client()
        let answers = Answers()
        let first = claim(client, answers)
        rig.run()
        let mirror = try client.mirror("/rooms/7", rig)
        try client.machine.dispatch(Guesthouse.Action.evict("7"), to: try client.open("/", rig))
        rig.run()
        #expect(mirror.phase == .failed(.gone(path: "/rooms/7")) && rig.roomCount == 0)
        _ = claim(client, answers)
        #expect(answers.granted == 1)
        rig.run()
        #expect(answers.granted == 2 && rig.roomCount == 1)
        client.machine.release(first)
        rig.run()
        #expect(rig.roomCount == 1)
    }

    @Test("F74: of two leases of one client, the one with definesLifecycle decides")
    func upgraded() {
        let client = rig.client()
        let answers = Answers()
        let first = claim(client, answers, defines: false)
        rig.run()
        let second = claim(client, answers)
        rig.run()
        client.machine.release(first)
        client.machine.release(second)
        rig.run()
        #expect(answers.granted == 2 && rig.roomCount == 0)
        // The second claim may come while the first request is under way.
        let third = claim(client, answers, defines: false)
        let fourth = claim(client, answers)
        rig.run()
        #expect(answers.granted == 4 && rig.roomCount == 1)
        client.machine.release(third)
        client.machine.release(fourth)
        rig.run()
        #expect(rig.roomCount == 0)
    }
}
