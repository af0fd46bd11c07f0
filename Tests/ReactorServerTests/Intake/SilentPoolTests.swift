import Testing

@testable import ReactorServer

/// The connection that is closed when too many are silent.
struct SilentPoolTests {
    private func id(_ number: UInt64) -> ConnectionID { ConnectionID(number) }

    /// Adds a connection whose socket was read, and returns the connection that must close.
    private func enter(
        _ number: UInt64, of uid: UInt32, _ pool: inout SilentPool
    ) -> ConnectionID? {
        pool.enter(id(number), of: uid)
        return pool.takeExcess { _ in true }
    }

    @Test("S38: the oldest silent connection of the most crowded user closes for any newcomer")
    func oldest() {
        var pool = SilentPool(countMax: 4)
        for number in 1...3 as ClosedRange<UInt64> {
            #expect(enter(number, of: 7, &pool) == nil)
        }
        #expect(enter(4, of: 8, &pool) == nil)
        #expect(enter(5, of: 8, &pool) == id(1))
        #expect(pool.count == 4)
        #expect(enter(6, of: 8, &pool) == id(4))
        #expect(enter(7, of: 7, &pool) == id(2))
    }

    @Test("S38: a connection that spoke or left makes room, and only once")
    func leave() {
        var pool = SilentPool(countMax: 2)
        #expect(enter(1, of: 7, &pool) == nil && enter(2, of: 7, &pool) == nil)
        pool.leave(id(1), of: 7)
        pool.leave(id(1), of: 7)
        #expect(pool.count == 1)
        #expect(enter(3, of: 7, &pool) == nil)
        pool.leave(id(2), of: 7)
        pool.leave(id(3), of: 7)
        #expect(pool.count == 0)
    }

    @Test("S38: a user with many connections never displaces another user with fewer")
    func flood() {
        var pool = SilentPool(countMax: 64)
        #expect(enter(1, of: 8, &pool) == nil)
        for number in 2...10_000 as ClosedRange<UInt64> {
            #expect(enter(number, of: 7, &pool) != id(1))
        }
        #expect(pool.count == 64)
    }

    @Test("S38: no connection closes before its socket was read, and all in excess close then")
    func unread() {
        var pool = SilentPool(countMax: 2)
        for number in 1...6 as ClosedRange<UInt64> { pool.enter(id(number), of: 7) }
        #expect(pool.takeExcess { _ in false } == nil)
        #expect(pool.isCrowded && pool.count == 6)
        var gone: [ConnectionID] = []
        while let next = pool.takeExcess({ $0.rawValue < 4 }) { gone.append(next) }
        #expect(gone == [id(1), id(2), id(3)])
        pool.enter(id(7), of: 8)
        #expect(pool.takeExcess { $0.rawValue == 7 } == nil, "no other user's goes instead")
        pool.leave(id(5), of: 7)
        pool.leave(id(7), of: 8)
        #expect(!pool.isCrowded)
    }
}
