import ReactorCore
import ReactorWire
import Testing

@testable import ReactorServer

/// Subscriptions of clients that reconnect, and the missed updates that they receive.
///
/// Drives ``QuestionTable``.
struct SliceResumeTests {
    private let harness = ServerHarness()

    private func resume(
        from sequence: UInt64, epoch: UInt64 = 7, _ path: String = "/visits",
        _ mode: SubscriptionMode = .replica
    ) throws -> [TestFrame] {
        let client = harness.start()
        client.subscribe(path, mode, from: Revision(epoch: epoch, sequence: sequence))
        harness.turn()
        return client.frames()
    }

    // [WIRE-10-3]
    @Test("a slice that has not changed since gets a mark and nothing else")
    func resumeUnchanged() throws {
        let writer = harness.start()
        writer.add(1)
        writer.add(1, to: 1)
        harness.turn()
        for mode in [SubscriptionMode.replica, .value] {
            let frames = try resume(from: 1, "/visits", mode)
            #expect(frames.map(\.kind) == [.subscribed, .mark])
            #expect(try frames[0].decode(Subscribed.self).start == .unchanged)
            #expect(frames[1].number == 2)
        }
    }

    // [WIRE-10-3]
    @Test("a replica that missed some turns gets exactly their deltas, from the ring")
    func resumeDeltas() throws {
        let writer = harness.start()
        for amount in 1...6 {
            writer.add(amount)
            writer.add(amount, to: 1)
            harness.turn()
        }
        // In the middle of a turn that has changed the slice already.
        let other = harness.start()
        other.subscribe("/visits")
        harness.turn()
        writer.add(7)
        let client = harness.start()
        writer.add(8)
        client.subscribe("/visits", from: Revision(epoch: 7, sequence: 5))
        writer.add(9)
        harness.turn()
        let frames = client.frames()
        #expect(try frames[0].decode(Subscribed.self).start == .deltas)
        let deltas = frames.filter { $0.kind == .delta }
        #expect(deltas.map(\.number) == [7, 9, 11, 13, 14, 15])
        #expect(frames.last?.kind == .mark && frames.last?.number == 15)
    }

    @Test("all clients that return in a turn get its change of a slice that no client followed")
    func resumeTogether() throws {
        let writer = harness.start()
        writer.add(1)
        harness.turn()
        let clients = [harness.start(), harness.start()]
        writer.add(2)
        for client in clients { client.subscribe("/visits", from: Revision(epoch: 7, sequence: 1)) }
        writer.add(3)
        harness.turn()
        for client in clients {
            let frames = client.frames()
            #expect(frames.map(\.kind) == [.subscribed, .snapshot, .mark])
            #expect(try frames[1].decode(Tally.State.self).count == 6)
        }
    }

    @Test("a replica of a child that was removed and created again gets a snapshot, no deltas")
    func resumeReborn() throws {
        let writer = harness.start()
        writer.dispatch(House.Action.build(name: "a"), to: 3)
        harness.turn()
        writer.open("/house/rooms/a", as: 5)
        writer.add(7, to: 5)
        harness.turn()
        let before = harness.server.tree.revision.sequence
        writer.dispatch(House.Action.tear(name: "a"), to: 3)
        writer.dispatch(House.Action.build(name: "a"), to: 3)
        harness.turn()
        writer.open("/house/rooms/a", as: 5)
        writer.add(1, to: 5)
        harness.turn()
        let frames = try resume(from: before, "/house/rooms/a")
        #expect(frames.map(\.kind) == [.subscribed, .snapshot, .mark])
        #expect(try frames[1].decode(Tally.State.self).count == 1)
    }

    @Test("a replica that missed more than the ring holds gets a snapshot")
    func resumeForgotten() throws {
        let harness = ServerHarness { $0.ringBytesMax = 2_000 }
        let writer = harness.start()
        for _ in 0..<100 {
            writer.add(1)
            harness.turn()
        }
        let client = harness.start()
        client.subscribe("/visits", from: Revision(epoch: 7, sequence: 50))
        harness.turn()
        let frames = client.frames()
        #expect(frames.map(\.kind) == [.subscribed, .snapshot, .mark])
        #expect(!frames[1].flags.contains(.fresh))
    }

    // [WIRE-10-4]
    @Test("a client of another history gets one snapshot with the flag fresh")
    func resumeFresh() throws {
        harness.start().add(1)
        harness.turn()
        let frames = try resume(from: 1, epoch: 99)
        #expect(frames.map(\.kind) == [.subscribed, .snapshot, .mark])
        #expect(frames[1].flags.contains(.fresh))
        let ahead = try resume(from: 1_000)
        #expect(ahead.map(\.kind) == [.subscribed, .snapshot, .mark])
    }
}
