import Testing

@testable import ReactorCluster

@Suite("how old a node's state may be")
struct FreshnessTests {
    @Test("before the first look is answered, the age of a state is not known")
    func unknown() {
        var freshness = Freshness()
        freshness.ask(at: 5, read: 0, confirms: false)
        freshness.read(upTo: 9)
        #expect(freshness.asOf == nil)
    }

    @Test("a state is as recent as the look whose entry it has, once it has that entry")
    func looks() {
        var freshness = Freshness()
        freshness.ask(at: 5, read: 0, confirms: false)
        freshness.see(head: 7, read: 5)
        #expect(freshness.asOf == nil)
        freshness.read(upTo: 6)
        #expect(freshness.asOf == nil)
        freshness.read(upTo: 7)
        #expect(freshness.asOf == 5)
        freshness.ask(at: 8, read: 0, confirms: false)
        freshness.see(head: 7, read: 7)
        #expect(freshness.asOf == 8)
    }

    @Test("a node that is always a little behind a look is as recent as an earlier one")
    func behind() {
        var freshness = Freshness()
        for look in 1...5 as ClosedRange<UInt64> {
            freshness.ask(at: look, read: 0, confirms: false)
            freshness.see(head: 10 * look, read: 10 * look - 1)
            // By the next look it has the entry of this one.
            freshness.read(upTo: 10 * look)
            #expect(freshness.asOf == look)
        }
        freshness.ask(at: 6, read: 0, confirms: false)
        freshness.see(head: 60, read: 51)
        freshness.ask(at: 7, read: 0, confirms: false)
        freshness.see(head: 70, read: 59)
        freshness.read(upTo: 60)
        #expect(freshness.asOf == 6, "the first of two looks that wait counts")
    }

    @Test("a log that ends before an entry that the node had is not the log of its state")
    func older() {
        var freshness = Freshness()
        freshness.ask(at: 5, read: 9, confirms: false)
        freshness.see(head: 8, read: 9)
        #expect(freshness.asOf == nil)
        freshness.ask(at: 6, read: 9, confirms: false)
        freshness.see(head: 9, read: 9)
        #expect(freshness.asOf == 6)
    }

    @Test("a wish has one look after it, and another one after a pause for as long as it is unmet")
    func wishes() {
        var freshness = Freshness()
        #expect(freshness.wishedLook(at: 1) == nil)
        freshness.ask(at: 5, read: 0, confirms: true)
        freshness.want(asOf: 6)
        let pause = Freshness.wishInterval
        #expect(freshness.wishedLook(at: 7) == 5 + pause, "the look under way was sent before")
        #expect(freshness.wishedLook(at: 9 + pause) == 9 + pause)
        freshness.see(head: 3, read: 3)
        #expect(freshness.asOf == 5 && freshness.wishedLook(at: 8) == 5 + pause)
        freshness.ask(at: 8, read: 3, confirms: true)
        freshness.see(head: 4, read: 3)
        #expect(freshness.wishedLook(at: 9) == nil, "only the entry is missing")
        freshness.read(upTo: 4)
        #expect(freshness.asOf == 8 && freshness.wishedLook(at: 9) == nil)
        #expect(freshness.unmetWish() == nil)
    }

    @Test("a look that waits for its entry is not repeated, and for a later wish once it has it")
    func laterWish() {
        var freshness = Freshness()
        freshness.ask(at: 5, read: 0, confirms: true)
        freshness.see(head: 9, read: 3)
        freshness.want(asOf: 5)
        #expect(freshness.wishedLook(at: 6) == nil)
        freshness.want(asOf: 6)
        #expect(freshness.wishedLook(at: 6) == nil)
        freshness.read(upTo: 9)
        #expect(freshness.asOf == 5)
        #expect(freshness.wishedLook(at: 7) == 5 + Freshness.wishInterval)
    }

    @Test("a look that confirms nothing is no answer to a wish, and delays none")
    func plainLook() {
        var freshness = Freshness()
        freshness.ask(at: 6, read: 0, confirms: false)
        freshness.want(asOf: 5)
        freshness.see(head: 3, read: 3)
        #expect(freshness.asOf == 6 && freshness.confirmedAsOf == nil)
        #expect(freshness.wishedLook(at: 7) == 6 + Freshness.wishInterval)
        // A plain look that waits for its entry does not hide the confirmation.
        freshness.ask(at: 7, read: 3, confirms: false)
        freshness.see(head: 5, read: 3)
        freshness.ask(at: 8, read: 3, confirms: true)
        freshness.see(head: 6, read: 3)
        #expect(freshness.wishedLook(at: 9) == nil)
        freshness.read(upTo: 5)
        #expect(freshness.asOf == 7 && freshness.unmetWish() == 5)
        freshness.read(upTo: 6)
        #expect(freshness.confirmedAsOf == 8 && freshness.unmetWish() == nil)
        #expect(freshness.asOf == 8)
    }

    @Test("a leader's state is as recent as its last confirmed call, and never becomes older")
    func leader() {
        var freshness = Freshness()
        freshness.confirm(sentAt: 9)
        freshness.confirm(sentAt: 4)
        #expect(freshness.asOf == 9)
    }
}

@Suite("a leadership of an earlier process")
struct FormerProcessTests {
    @Test("a node's claim is its own only if this process has made it")
    func claims() {
        let nodes = [1, 2, 3].map { ClusterNode($0) }
        let machine = ClusterMachine(
            ClusterSettings(node: nodes[0], nodes: nodes), at: .beginning(seed: 1),
            report: NodeReport(node: nodes[0]), seed: 1, check: { _, _ in true })
        machine.receive(.up, at: 1)
        machine.receive(.announced(version: 7), at: 2)
        #expect(!machine.isLedByFormerProcess, "no node has led")
        let claims = [(nodes[0], 6, true), (nodes[1], 6, false), (nodes[0], 7, false)]
        for (index, (node, incarnation, isFormer)) in claims.enumerated() {
            let claim = LeaderClaim(node: node, incarnation: UInt64(incarnation), attempt: 1)
            machine.receive(.leader(term: UInt64(index) + 10, .held(claim)), at: 3)
            #expect(machine.isLedByFormerProcess == isFormer, "\(claim)")
        }
    }

    @Test("after it was forgotten, the age is known by the next look")
    func forgotten() {
        var freshness = Freshness()
        freshness.ask(at: 5, read: 0, confirms: false)
        freshness.see(head: 7, read: 7)
        freshness.ask(at: 6, read: 0, confirms: false)
        freshness.see(head: 9, read: 7)
        freshness.forget()
        freshness.read(upTo: 9)
        #expect(freshness.asOf == nil)
        freshness.ask(at: 8, read: 9, confirms: false)
        freshness.see(head: 9, read: 9)
        #expect(freshness.asOf == 8)
    }
}
