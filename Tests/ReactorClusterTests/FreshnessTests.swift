import Testing

@testable import ReactorCluster

@Suite("how old a node's state may be")
struct FreshnessTests {
    @Test("before the first look is answered, the age of a state is not known")
    func unknown() {
        var freshness = Freshness()
        freshness.ask(at: 5)
        freshness.read(upTo: 9)
        #expect(freshness.asOf == nil)
    }

    @Test("a state is as recent as the look whose entry it has, once it has that entry")
    func looks() {
        var freshness = Freshness()
        freshness.ask(at: 5)
        freshness.see(head: 7, read: 5)
        #expect(freshness.asOf == nil)
        freshness.read(upTo: 6)
        #expect(freshness.asOf == nil)
        freshness.read(upTo: 7)
        #expect(freshness.asOf == 5)
        freshness.ask(at: 8)
        freshness.see(head: 7, read: 7)
        #expect(freshness.asOf == 8)
    }

    @Test("a node that is always a little behind a look is as recent as an earlier one")
    func behind() {
        var freshness = Freshness()
        for look in 1...5 as ClosedRange<UInt64> {
            freshness.ask(at: look)
            freshness.see(head: 10 * look, read: 10 * look - 1)
            // By the next look it has the entry of this one.
            freshness.read(upTo: 10 * look)
            #expect(freshness.asOf == look)
        }
        freshness.ask(at: 6)
        freshness.see(head: 60, read: 51)
        freshness.ask(at: 7)
        freshness.see(head: 70, read: 59)
        freshness.read(upTo: 60)
        #expect(freshness.asOf == 6, "the first of two looks that wait counts")
    }

    @Test("a leader's state is as recent as its last confirmed call, and never becomes older")
    func leader() {
        var freshness = Freshness()
        freshness.confirm(sentAt: 9)
        freshness.confirm(sentAt: 4)
        #expect(freshness.asOf == 9)
    }
}
