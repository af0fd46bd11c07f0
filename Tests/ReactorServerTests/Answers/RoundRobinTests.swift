import Testing

@testable import ReactorServer

/// Queues that take turns.
struct RoundRobinTests {
    @Test("owners take turns, whatever the number of their elements")
    func turns() {
        var queue = RoundRobin<UInt32, String>()
        for number in 1...3 { queue.append("a\(number)", of: 1) }
        queue.append("b1", of: 2)
        queue.append("c1", of: 3)
        queue.append("b2", of: 2)
        var order: [String] = []
        while let (_, element) = queue.popFirst() { order.append(element) }
        #expect(order == ["a1", "b1", "c1", "a2", "b2", "a3"])
        #expect(queue.isEmpty && queue.ownerCount == 0)
    }

    @Test("an unfinished element stays the first of its owner, and other owners go first")
    func unfinished() {
        var queue = RoundRobin<UInt32, String>()
        queue.append("a1", of: 1)
        queue.append("a2", of: 1)
        queue.append("b1", of: 2)
        guard let first = queue.popFirst() else {
            Issue.record("nothing was taken")
            return
        }
        queue.putBack(first.element, of: first.owner)
        var order: [String] = []
        while let (_, element) = queue.popFirst() { order.append(element) }
        #expect(order == ["b1", "a1", "a2"])
    }

    @Test("an element without progress is the next, and its owner's turn is not lost")
    func restored() {
        var queue = RoundRobin<UInt32, String>()
        for element in ["a1", "a2"] { queue.append(element, of: 1) }
        queue.append("b1", of: 2)
        for _ in 1...2 {
            guard let first = queue.popFirst() else { continue }
            queue.restore(first.element, of: first.owner)
        }
        var order: [String] = []
        while let (_, element) = queue.popFirst() { order.append(element) }
        #expect(order == ["a1", "b1", "a2"])
    }

    @Test("an owner that may not go keeps its turn for later")
    func passedOver() {
        var queue = RoundRobin<UInt32, Int>()
        for number in 1...4 { queue.append(number, of: UInt32(number % 2)) }
        #expect(queue.contains(0) && queue.contains(1) && !queue.contains(2))
        #expect(queue.popFirst(where: { $0 == 0 })?.element == 2)
        #expect(queue.popFirst(where: { $0 == 0 })?.element == 4)
        #expect(queue.popFirst(where: { $0 == 0 }) == nil && !queue.contains(0))
        #expect(queue.popFirst()?.element == 1 && queue.count == 1)
    }

    @Test("removed elements leave no empty turn behind")
    func removal() {
        var queue = RoundRobin<UInt32, Int>()
        for number in 1...4 { queue.append(number, of: UInt32(number % 2)) }
        #expect(queue.removeAll { $0 % 2 == 0 }.sorted() == [2, 4])
        #expect(queue.count == 2 && queue.ownerCount == 1)
        #expect(queue.popFirst()?.element == 1 && queue.popFirst()?.element == 3)
        #expect(queue.popFirst() == nil)
    }
}
