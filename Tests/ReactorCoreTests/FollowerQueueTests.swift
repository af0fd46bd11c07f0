import Testing

@testable import ReactorCore

@Suite("FollowerQueue")
struct FollowerQueueTests {
    private func follower(_ depth: Int) -> Follower {
        Follower(
            work: .action(FollowerRequest(path: .root, action: WireEmbedded(1))), origin: .daemon,
            depth: depth)
    }

    @Test("followers are returned in order, also those that one of them adds")
    func order() {
        let queue = FollowerQueue()
        queue.append(follower(1))
        #expect(queue.next()?.depth == 1 && queue.takenCount == 1)
        queue.append(follower(2))
        #expect(queue.next()?.depth == 2 && queue.takenCount == 2)
        #expect(queue.next() == nil && queue.isEmpty && queue.takenCount == 0)
    }

    @Test("the rest is taken in order, and leaves an empty queue")
    func rest() {
        let queue = FollowerQueue()
        for depth in 1...3 { queue.append(follower(depth)) }
        _ = queue.next()
        #expect(queue.takeRest().map(\.depth) == [2, 3])
        #expect(queue.next() == nil && queue.invariants())
    }
}
