import Testing

@testable import ReactorServer

/// Connections that wait for updates, tested without a server.
struct UpdateQueueTests {
    private func connection(_ number: UInt64) -> Connection {
        Connection(
            id: ConnectionID(number), peer: Peer(uid: 1, gid: 1, pid: 1))
    }

    @Test("a turn serves eight connections, the longest waiting first, and each once")
    func turns() {
        var queue = UpdateQueue()
        let connections = (1...12 as ClosedRange<UInt64>).map(connection)
        for connection in connections { queue.list(connection) }
        for connection in connections { queue.list(connection) }
        let early = queue.next()
        #expect(early == nil, "no turn has begun")
        var served: [[UInt64]] = []
        for _ in 0..<3 {
            queue.beginTurn()
            var numbers: [UInt64] = []
            while let next = queue.next() { numbers.append(next.id.rawValue) }
            served.append(numbers)
        }
        #expect(served == [Array(1...8), Array(9...12), []])
        let isEmpty = queue.isEmpty
        #expect(isEmpty)
    }

    @Test("a queue is full when one more connection would wait for a later turn")
    func full() {
        var queue = UpdateQueue()
        for number in 1...7 as ClosedRange<UInt64> { queue.list(connection(number)) }
        let isFullEarly = queue.isFull
        queue.list(connection(8))
        let isFull = queue.isFull
        #expect(!isFullEarly && isFull)
    }
}
