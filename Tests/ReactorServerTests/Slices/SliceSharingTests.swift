import ReactorBytes
import ReactorCore
import ReactorWire
import Testing

@testable import ReactorServer

/// The updates that followers receive, tested without a server.
struct SliceSharingTests {
    private func follow(_ bench: OrganBench, _ path: String) {
        let body = Subscribe(path: path, mode: .value).wireBytes()
        bench.subscriptions.subscribe(
            FrameHeader(kind: .subscribe, number: 1), body.span, of: bench.connection)
    }

    @Test("an owed snapshot is encoded once for all its followers, and sent to each once")
    func pays() throws {
        let bench = try OrganBench()
        follow(bench, "/page")
        let other = OrganBench.connection(2)
        let page = try #require(try bench.tree.node(at: SlicePath("/page")))
        let slice = bench.sharing.slice(page, [], .value)
        slice.addFollower(other)
        other.subscriptions[slice.id] = Subscription(owing: .snapshot)
        other.outlet.value.fallBehind()
        for connection in [bench.connection, other] { bench.sharing.payOwed(connection) }
        #expect(bench.orders.stats.snapshotsEncoded == 1 && bench.sharing.cachedByteCount > 0)
        #expect(!other.outlet.value.owesSnapshots && !bench.sharing.canBePaid(other))
        #expect(other.subscriptions.values.allSatisfy { !$0.isSnapshotOwed })
        bench.sharing.leave(slice.id, other)
    }

    @Test("a changed value is encoded for a follower that has its snapshot")
    func values() throws {
        let bench = try OrganBench()
        follow(bench, "/page")
        bench.sharing.payOwed(bench.connection)
        _ = bench.endTurn()
        bench.chronicle.beginTurn()
        let page = try #require(try bench.tree.node(at: SlicePath("/page")))
        let action = Page.Action.title("a").wireBytes()
        _ = bench.tree.dispatch(to: page, action.span, by: .daemon, ordinal: 0)
        bench.sharing.shareValues()
        #expect(bench.orders.stats.valuesEncoded == 2, "the snapshot, then the change")
        #expect(bench.delivery.takeListed().count == 1)
    }
}
