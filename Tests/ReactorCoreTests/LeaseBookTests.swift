import Testing

@testable import ReactorCore

@Suite("LeaseBook")
struct LeaseBookTests {
    @Test("the last holder of a key ends it, if its lease defines the lifecycle")
    func last() {
        var book = LeaseBook()
        book.hold("a", by: 1, definesLifecycle: true)
        book.hold("a", by: 2, definesLifecycle: true)
        book.hold("a", by: 2, definesLifecycle: true)
        #expect(book.count == 2 && book.isHeld("a", by: 1) && !book.isHeld("a", by: 3))
        let ends = [1, 1, 2].map { book.leave("a", $0) }
        #expect(ends == [false, false, true] && book.count == 0)
        book.hold("a", by: 1, definesLifecycle: false)
        let isEnd = book.leave("a", 1)
        #expect(!isEnd && book.count == 0)
    }

    @Test("a connection has a limit of leases, and releases make room")
    func room() {
        var book = LeaseBook()
        for number in 0..<CoreLimits.leasesPerConnectionMax {
            #expect(book.hasRoom(for: 1))
            book.hold(WireKey("\(number)"), by: 1, definesLifecycle: true)
        }
        #expect(!book.hasRoom(for: 1) && book.hasRoom(for: 2))
        _ = book.leave("0", 1)
        #expect(book.hasRoom(for: 1))
    }

    @Test("a child that a lease defines has a holder, until the last one leaves")
    func invariants() {
        var book = LeaseBook()
        book.hold("a", by: 1, definesLifecycle: true)
        #expect(book.invariants(at: "a") && book.definedCount == 1)
        let isEnd = book.leave("a", 1)
        #expect(isEnd && book.invariants(at: "a") && book.definedCount == 0)
    }
}
