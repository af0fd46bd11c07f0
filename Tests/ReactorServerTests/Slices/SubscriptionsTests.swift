import ReactorBytes
import ReactorCore
import ReactorWire
import Testing

@testable import ReactorServer

/// Subscribing and resuming, tested without a server.
struct SubscriptionsTests {
    private func subscribe(
        _ bench: OrganBench, _ path: String, _ mode: SubscriptionMode = .replica,
        from: Revision? = nil
    ) {
        let body = Subscribe(path: path, mode: mode, from: from).wireBytes()
        bench.subscriptions.subscribe(
            FrameHeader(kind: .subscribe, number: 1), body.span, of: bench.connection)
    }

    @Test("a subscription is owed a snapshot, and a second one of the same slice counts once")
    func begins() throws {
        let bench = try OrganBench()
        subscribe(bench, "/visits")
        subscribe(bench, "/visits")
        #expect(bench.subscriptions.count == 1 && bench.sharing.sliceCount == 1)
        #expect(bench.connection.outlet.value.state == .behind)
        #expect(bench.connection.subscriptions.values.allSatisfy { $0.debt == .snapshot })
        let started = try bench.endTurn().map { try $0.decode(Subscribed.self).start }
        #expect(started == [.snapshot, .snapshot])
        bench.subscriptions.leave(bench.connection)
        #expect(bench.subscriptions.count == 0 && bench.sharing.sliceCount == 0)
    }

    @Test("a client that has seen all of a slice gets no snapshot, and one of another epoch does")
    func resumes() throws {
        let bench = try OrganBench()
        subscribe(bench, "/visits", from: Revision(epoch: 7, sequence: 0))
        #expect(bench.connection.subscriptions.values.allSatisfy { !$0.isSnapshotOwed })
        subscribe(bench, "/page", from: Revision(epoch: 8, sequence: 0))
        let debts = bench.connection.subscriptions.values.map(\.debt)
        #expect(debts.contains(.none) && debts.contains(.freshSnapshot))
        let started = try bench.endTurn().map { try $0.decode(Subscribed.self).start }
        #expect(started == [.unchanged, .snapshot])
    }

    @Test("a field of a replica, a path without a node and one slice too many are refused")
    func refused() throws {
        let bench = try OrganBench { $0.subscriptionsPerUIDMax = 1 }
        subscribe(bench, "/page/title")
        subscribe(bench, "/pages")
        subscribe(bench, "/page/title", .value)
        subscribe(bench, "/visits")
        let frames = bench.endTurn()
        #expect(frames.map(\.kind) == [.refused, .refused, .subscribed, .refused])
        let codes = try frames.filter { $0.kind == .refused }.map {
            try $0.decode(Refusal.self).code
        }
        #expect(codes == [.path, .notFound, .quota])
    }

    @Test("a subscription ends by its number, and another number ends nothing")
    func unsubscribe() throws {
        let bench = try OrganBench()
        subscribe(bench, "/visits")
        let id = try #require(bench.connection.subscriptions.keys.first)
        bench.subscriptions.unsubscribe(id &+ 1, of: bench.connection)
        #expect(bench.subscriptions.count == 1)
        bench.subscriptions.unsubscribe(id, of: bench.connection)
        #expect(bench.subscriptions.count == 0 && bench.connection.subscriptions.isEmpty)
    }
}
