import ReactorJournal
import ReactorWire
import Testing

@testable import ReactorDaemon

/// Drives ``FreshRows``, ``StateSizes``, ``TrimCounts``, ``SnapshotOrders`` and ``SnapshotRecord``.
@Suite("What the keeper counts")
struct KeeperCountsTests {
    @Test("the age of fresh rows is that of the oldest one of this run")
    func fresh() {
        var rows = FreshRows(byteCount: 100)
        #expect(!rows.isChanged && rows.byteCount == 100 && rows.age(at: 50) == .zero)
        rows.count(10, at: 1_000)
        rows.count(20, at: 3_000)
        #expect(rows.isChanged && rows.byteCount == 130)
        #expect(rows.age(at: 5_000) == .nanoseconds(4_000))
        rows.clear()
        #expect(!rows.isChanged && rows.byteCount == 0)
    }

    @Test("a trim removes snapshots first and ends later, and trims may overlap")
    func trims() {
        var trims = TrimCounts()
        #expect(!trims.isTrimming && !trims.isTidying)
        trims.begin()
        trims.begin()
        trims.endTidying()
        #expect(trims.isTrimming && trims.isTidying)
        #expect(trims.anchor == nil)
        trims.setAnchor(7)
        trims.end()
        trims.endTidying()
        #expect(trims.isTrimming && !trims.isTidying)
        trims.end()
        #expect(!trims.isTrimming && trims.anchor == 7)
    }

    @Test("sizes are summed by reactor, and beyond the maximum counted together")
    func sizes() {
        let sizes = StateSizes()
        sizes.add(5, at: nil)
        sizes.add(7, at: "visits")
        sizes.add(3, at: "visits")
        #expect(sizes.byteCounts.map(\.reactor) == ["/", "/visits"])
        #expect(sizes.byteCounts.map(\.byteCount) == [5, 10])
        for number in 0..<StateSizes.reactorsMax { sizes.add(1, at: WireKey("n\(number)")) }
        #expect(sizes.byteCounts.count == StateSizes.reactorsMax + 1)
        #expect(sizes.byteCounts.last { $0.reactor == "other" }?.byteCount == 2)
    }

    @Test("the server is asked once, and the callbacks belong to the snapshot that begins next")
    func orders() {
        var orders = SnapshotOrders()
        var count = 0
        orders.add { _ in count += 1 }
        let asked = [orders.request(), orders.request()]
        #expect(orders.isWaiting && asked == [true, false])
        for callback in orders.begin() { callback(.failure(.moved(path: "/data"))) }
        #expect(count == 1 && !orders.isWaiting)
        let again = [orders.request(), orders.request()]
        orders.forgetRequest()
        let replaced = orders.request()
        #expect(again == [true, false] && replaced)
    }

    @Test("failed snapshots are counted, and the time of the last snapshot is kept")
    func record() {
        var record = SnapshotRecord()
        record.pass(isRunning: false, at: 10)
        #expect(record.nanoseconds == nil && !record.hasFailed)
        record.pass(isRunning: true, at: 100)
        record.pass(isRunning: true, at: 200)
        record.end(hasFailed: true)
        record.pass(isRunning: false, at: 350)
        #expect(record.nanoseconds == 250 && record.hasFailed && record.failedCount == 1)
        record.end(hasFailed: false)
        #expect(!record.hasFailed && record.failedCount == 1)
    }
}
