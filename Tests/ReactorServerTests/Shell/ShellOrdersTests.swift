import ReactorWire
import Testing

@testable import ReactorServer

/// Orders for a shell, tested without a server.
struct ShellOrdersTests {
    @Test("orders are handed over in their order, each once")
    func order() {
        let orders = ShellOrders(logInterval: 10, eventsMax: 4)
        orders.append(.close(ConnectionID(1)))
        orders.append(.cut(ConnectionID(2)))
        let taken = orders.takeAll()
        guard case .close(ConnectionID(1)) = taken[0], case .cut(ConnectionID(2)) = taken[1] else {
            Issue.record("\(taken) are not the orders")
            return
        }
        #expect(taken.count == 2)
        #expect(orders.takeAll().isEmpty)
    }

    @Test("a fault is logged once in an interval, and omitted faults are counted")
    func log() {
        let orders = ShellOrders(logInterval: 10, eventsMax: 4)
        let peer = Peer(uid: 1, gid: 1, pid: 1)
        for time in [5, 6, 15] as [UInt64] {
            orders.begin(at: time)
            orders.report(peer, .busy) { .turnedAway(peer, "full", leftOut: $0) }
        }
        let taken = orders.takeAll()
        let events = taken.compactMap { output in
            if case .log(let event) = output { event } else { nil }
        }
        #expect(
            events == [
                .turnedAway(peer, "full", leftOut: 0), .turnedAway(peer, "full", leftOut: 1),
            ])
        #expect(orders.stats.eventsLeftOut == 1)
    }
}
