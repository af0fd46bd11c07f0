import ReactorBytes
import Testing

@testable import ReactorServer

/// Connections that have used up their share of a turn, tested without a server.
struct RestQueueTests {
    private func connection(_ number: UInt64) -> Connection {
        Connection(
            id: ConnectionID(number), peer: Peer(uid: 1, gid: 1, pid: 1))
    }

    /// Ends a turn, and returns the connections that are read next.
    private func end(_ queue: inout RestQueue) -> [UInt64] {
        let due = (queue.endTurn() ?? []).map(\.id.rawValue)
        queue.beginTurn()
        return due
    }

    @Test("a connection rests until the turn after the one that used up its share has ended")
    func turns() {
        var queue = RestQueue()
        let (first, second) = (connection(1), connection(2))
        let wasReading = queue.list(first)
        #expect(wasReading)
        var due = end(&queue)
        #expect(due == [])
        let (hasSpent, hasRested) = (queue.hasSpent, queue.hasRested)
        #expect(!hasSpent && hasRested)
        _ = queue.list(second)
        due = end(&queue)
        #expect(due == [1] && first.inlet.value.state == .paused)
        due = end(&queue)
        #expect(due == [2])
        let endedTurns = queue.endedTurns
        #expect(endedTurns == 3)
    }

    @Test("connections that had no input handled are read before those that had")
    func postponed() {
        var queue = RestQueue()
        for number in 1...2 as ClosedRange<UInt64> { _ = queue.list(connection(number)) }
        _ = queue.postpone(connection(3))
        let hasSpent = queue.hasSpent
        #expect(hasSpent)
        _ = end(&queue)
        let due = end(&queue)
        #expect(due == [3, 1, 2])
    }

    @Test("a connection that was closed in between is not read again")
    func closed() {
        var queue = RestQueue()
        let gone = connection(1)
        _ = queue.list(gone)
        _ = end(&queue)
        gone.close()
        let due = end(&queue)
        #expect(due == [])
    }

    @Test("a connection that uses up its share again while it is read rests for one more turn")
    func again() {
        var queue = RestQueue()
        let greedy = connection(1)
        _ = queue.list(greedy)
        _ = end(&queue)
        for connection in queue.endTurn() ?? [] { _ = queue.list(connection) }
        queue.beginTurn()
        let due = end(&queue)
        #expect(due == [1])
    }
}
