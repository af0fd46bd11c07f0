import Testing

@testable import ReactorServer

/// Who goes when too many say nothing.
struct SilentPoolTests {
    private func id(_ number: UInt64) -> ConnectionID { ConnectionID(number) }

    @Test("S38: the oldest of the most crowded user goes, whoever the newcomer is")
    func oldest() {
        var pool = SilentPool(countMax: 4)
        for number in 1...3 as ClosedRange<UInt64> { #expect(pool.enter(id(number), of: 7) == nil) }
        #expect(pool.enter(id(4), of: 8) == nil)
        #expect(pool.enter(id(5), of: 8) == id(1))
        #expect(pool.count == 4)
        #expect(pool.enter(id(6), of: 8) == id(4))
        #expect(pool.enter(id(7), of: 7) == id(2))
    }

    @Test("S38: one that spoke or left makes room, and is not missed twice")
    func leave() {
        var pool = SilentPool(countMax: 2)
        #expect(pool.enter(id(1), of: 7) == nil && pool.enter(id(2), of: 7) == nil)
        pool.leave(id(1), of: 7)
        pool.leave(id(1), of: 7)
        #expect(pool.count == 1)
        #expect(pool.enter(id(3), of: 7) == nil)
        pool.leave(id(2), of: 7)
        pool.leave(id(3), of: 7)
        #expect(pool.count == 0)
    }

    @Test("S38: a user who floods never drives out another who has fewer")
    func flood() {
        var pool = SilentPool(countMax: 64)
        #expect(pool.enter(id(1), of: 8) == nil)
        for number in 2...10_000 as ClosedRange<UInt64> {
            #expect(pool.enter(id(number), of: 7) != id(1))
        }
        #expect(pool.count == 64)
    }
}
