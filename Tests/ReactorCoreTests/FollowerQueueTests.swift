import Testing

@testable import ReactorCore

@Suite("FollowerQueue")
struct FollowerQueueTests {
    private func follower(_ depth: Int) -> Follower {
        Follower(
            request: FollowerRequest(path: .root, action: WireEmbedded(1)), origin: .daemon,
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

    @Test("dropped followers are not returned")
    func drop() {
        let queue = FollowerQueue()
        for depth in 1...3 { queue.append(follower(depth)) }
        _ = queue.next()
        queue.drop()
        #expect(queue.next() == nil && queue.invariants())
    }
}
