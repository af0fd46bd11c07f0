import Testing

@testable import ReactorServer

/// A first-in-first-out queue from which elements may be removed.
struct ArrivalOrderTests {
    @Test("keys leave in the order of their arrival, except those that left before")
    func order() {
        var order = ArrivalOrder<Int>()
        for key in 1...6 { order.append(key) }
        #expect(order.remove(1) && order.remove(4) && !order.remove(4))
        order.append(2)
        #expect(order.first == 3 && order.count == 4 && order.contains(2) && !order.contains(1))
        var left: [Int] = []
        while let key = order.popFirst() { left.append(key) }
        #expect(left == [3, 5, 6, 2])
        #expect(order.isEmpty && order.placeCount == 0)
    }

    @Test("100,000 keys that come and leave after one that stays take no memory")
    func churn() {
        var order = ArrivalOrder<Int>()
        order.append(0)
        for key in 1...100_000 {
            order.append(key)
            order.remove(key)
        }
        #expect(order.count == 1 && order.first == 0)
        #expect(order.placeCount < 32)
    }
}
