import Testing

@testable import ReactorCluster

/// Following and taking over. Drives ``ClusterMachine``.
struct ClusterMachineTests {
    private typealias Driver = MachineDriver

    @Test("a node that connects reports itself, watches from its position, and looks")
    func start() {
        let driver = Driver()
        driver.wait(10_000)
        #expect(driver.outputs.isEmpty && driver.machine.due == nil)
        driver.receive(.up)
        #expect(driver.calls.map(\.kind) == [.announce, .watch, .look])
        #expect(driver.calls[1] == .watch(after: .beginning))
        driver.receive(.announced(version: 4))
        driver.receive(.sighting(Driver.sighting()))
        #expect(driver.others == [.leader(ClusterNode(2))])
        #expect(driver.machine.due == driver.now + 200_000_000)
        driver.wait(200)
        #expect(driver.calls == [.look])
        driver.wait(4_800)
        var report = NodeReport(node: ClusterNode(1))
        report.incarnation = 4
        #expect(driver.calls == [.announce(report)])
    }

    @Test("a follower takes over the state that it saw after the silence, and leads when it wins")
    func takeOver() throws {
        let driver = Driver()
        driver.start()
        let begin = driver.now
        let seen = Driver.sighting()
        let call = try #require(driver.takeOver(seen))
        #expect(driver.now - begin >= 1_500_000_000 && driver.now - begin <= 1_800_000_000)
        #expect(call == .takeOver(seen: seen, record: Driver.claim(1, incarnation: 4)))
        #expect(driver.machine.role == .candidate)
        driver.receive(.won(term: 7, head: .beginning))
        #expect(driver.machine.role == .leading(term: 7))
        #expect(
            driver.others == [
                .promoted(term: 7, after: TestRows.start), .leader(ClusterNode(1)),
            ])
        #expect(driver.calls.contains(.unwatch))
    }

    @Test("a follower that is asked for the current state looks at once, and a leader beats")
    func refresh() throws {
        let driver = Driver()
        driver.start()
        driver.receive(.sighting(Driver.sighting()))
        driver.wait(30)
        driver.refresh()
        #expect(driver.calls == [.confirm])
        driver.refresh()
        #expect(driver.calls.isEmpty)
        // Another wish came after the call that is under way: it waits for its turn.
        driver.wait(1)
        driver.refresh()
        driver.receive(.sighting(Driver.sighting()))
        #expect(driver.calls.isEmpty && driver.machine.due == driver.now + 19_000_000)
        driver.wait(19)
        #expect(driver.calls == [.confirm])
        driver.receive(.sighting(Driver.sighting()))
        #expect(driver.machine.confirmedAsOf == driver.now && driver.calls.isEmpty)
        _ = try #require(driver.takeOver(Driver.sighting()))
        driver.receive(.won(term: 7, head: .beginning))
        driver.wait(21)
        driver.refresh()
        #expect(driver.calls == [.beat(term: 7)])
        driver.receive(.beaten)
        #expect(driver.machine.confirmedAsOf == driver.now)
        // An entry in flight confirms as well, if it was sent after the wish.
        driver.wait(1)
        driver.append(TestRows.rows([3]))
        #expect(driver.calls.map(\.kind) == [.append])
        driver.wait(1)
        driver.refresh()
        #expect(driver.calls.isEmpty)
        driver.receive(.appended(LogPosition(number: 1, revision: 9)))
        #expect(driver.calls.isEmpty, "the entry left before the wish, and the beat is not due")
        driver.wait(20)
        #expect(driver.calls == [.beat(term: 7)])
    }

    @Test("a watch that loses an entry is opened again, also while the current state is wanted")
    func lostEvent() {
        let driver = Driver()
        let entry = TestRows.entries(TestRows.rows([3]))[0]
        driver.start()
        driver.refresh()
        var confirmed = 0
        var opened = 0
        for _ in 0..<12 {
            confirmed += driver.calls.count { $0 == .confirm }
            driver.receive(.sighting(Driver.sighting(head: entry.position)))
            opened += driver.calls.count { $0.kind == .watch }
            driver.wait(100)
        }
        // Each look was sent to confirm the state.
        #expect(confirmed >= 4 && opened >= 1)
    }

    @Test("a node that is held reads no entries and does not take over, and then goes on")
    func held() {
        let driver = Driver()
        let entry = TestRows.entries(TestRows.rows([3]))[0]
        driver.start()
        driver.hold(true)
        #expect(driver.calls == [.unwatch])
        driver.receive(.entries([entry]))
        #expect(driver.others.isEmpty && driver.takeOver() == nil)
        driver.hold(false)
        #expect(driver.calls.contains(.watch(after: .beginning)))
        driver.receive(.entries([entry]))
        #expect(driver.others.contains { if case .apply = $0 { true } else { false } })
    }

    @Test("a node that is no candidate, or has not reported yet, never takes over")
    func noCandidate() {
        let idle = Driver { $0.isCandidate = false }
        idle.start()
        #expect(idle.takeOver() == nil)
        let unknown = Driver()
        unknown.receive(.up)
        #expect(unknown.takeOver() == nil)
    }

    @Test("a follower that lacks an entry does not take over, however long the leader is silent")
    func behind() throws {
        let driver = Driver()
        driver.start()
        let rows = TestRows.rows([3])
        let entry = TestRows.entries(rows)[0]
        let seen = Driver.sighting(head: entry.position)
        #expect(driver.takeOver(seen) == nil)
        driver.receive(.entries([entry]))
        #expect(
            driver.others == [
                .apply(
                    rows,
                    AppliedPosition(row: rows[0].position, entry: entry.position, term: 5))
            ])
        #expect(driver.takeOver(seen) != nil)
    }

    @Test("a vacant leadership is taken over at once, by its successor or by any node")
    func vacant() {
        for (successor, isTaken) in [(1, true), (3, false), (nil, true)] as [(UInt8?, Bool)] {
            let driver = Driver()
            driver.start()
            let record = LeaderRecord.vacant(successor: successor.map { ClusterNode($0) })
            driver.receive(.sighting(Driver.sighting(term: 2)))
            driver.receive(.leader(term: 9, record))
            #expect(driver.calls == [.look], "a hint is looked into at once")
            driver.receive(.sighting(Driver.sighting(term: 9, leader: record)))
            #expect(driver.calls.contains { $0.kind == .takeOver } == isTaken)
        }
        let first = Driver()
        first.start()
        first.receive(.sighting(Driver.sighting(term: 0, leader: nil, beat: 0)))
        #expect(first.calls.contains { $0.kind == .takeOver })
    }

    /// The claim of an earlier process of node 1.
    private static let former = Driver.claim(1, incarnation: 3)

    @Test("a node that is no candidate gives up the claim of its earlier process, in that term")
    func formerClaim() {
        let driver = Driver { $0.isCandidate = false }
        driver.receive(.up)
        driver.receive(.sighting(Driver.sighting(leader: Self.former)))
        #expect(!driver.calls.contains { $0.kind == .vacate }, "its incarnation is not known")
        driver.receive(.announced(version: 4))
        #expect(driver.calls.contains(.vacate(term: 2, successor: nil)))
        driver.receive(.unknown(.vacate, .late))
        #expect(driver.machine.isLedByFormerProcess)
        driver.wait(200)
        #expect(driver.calls.contains(.vacate(term: 2, successor: nil)))
        driver.receive(.sighting(Driver.sighting(leader: Self.former)))
        let asked = driver.now
        #expect(driver.machine.currentAsOf == asked)
        driver.receive(.vacated(term: 8))
        #expect(!driver.machine.isLedByFormerProcess && driver.machine.role == .following)
        // The former process may have appended after that look.
        #expect(driver.machine.currentAsOf == nil && driver.calls.contains(.look))
        driver.receive(.sighting(Driver.sighting(leader: Self.former)))
        #expect(driver.machine.currentAsOf == nil, "the look was answered before the vacancy")
        driver.wait(200)
        driver.receive(.sighting(Driver.sighting(term: 8, leader: .vacant(successor: nil))))
        #expect(driver.machine.currentAsOf == driver.now)
        #expect(!driver.calls.contains { $0.kind == .vacate || $0.kind == .takeOver })
    }

    @Test("a refused attempt to give up a claim names the leader; a candidate keeps the claim")
    func formerClaimTaken() {
        let driver = Driver { $0.isCandidate = false }
        driver.start()
        driver.receive(.sighting(Driver.sighting(leader: Self.former)))
        #expect(driver.calls.contains(.vacate(term: 2, successor: nil)))
        driver.receive(
            .refused(.vacate, LogRefusal(last: nil, term: 9, leader: Driver.claim(3))))
        #expect(driver.machine.leader == ClusterNode(3) && driver.machine.role == .following)
        driver.wait(200)
        #expect(!driver.calls.contains { $0.kind == .vacate })
        let candidate = Driver()
        candidate.start()
        candidate.receive(.sighting(Driver.sighting(leader: Self.former)))
        #expect(!candidate.calls.contains { $0.kind == .vacate })
    }

    @Test("a take-over without an answer is repeated unchanged, and its own claim means it has won")
    func lostAnswer() throws {
        let driver = Driver()
        driver.start()
        let call = try #require(driver.takeOver())
        driver.receive(.unknown(.takeOver, .late))
        driver.receive(.down("late"))
        driver.receive(.up)
        driver.wait(50)
        #expect(driver.calls.filter { $0.kind == .takeOver } == [call])
        let own = Driver.claim(1, incarnation: 4)
        driver.receive(.lost(Driver.sighting(term: 8, leader: own)))
        #expect(driver.machine.role == .leading(term: 8))
    }

    @Test("a take-over that another node won, and a claim of an earlier process, make a follower")
    func lost() {
        for leader in [Driver.claim(3), Driver.claim(1, incarnation: 3)] {
            let driver = Driver()
            driver.start()
            _ = driver.takeOver()
            driver.receive(.lost(Driver.sighting(term: 8, leader: leader)))
            #expect(driver.machine.role == .following)
        }
    }

    @Test("a victory that is answered after another node has won does not count")
    func lateVictory() {
        let driver = Driver()
        driver.start()
        _ = driver.takeOver()
        driver.receive(.leader(term: 9, Driver.claim(3)))
        driver.receive(.won(term: 8, head: .beginning))
        #expect(driver.machine.role == .following)
        #expect(!driver.others.contains { if case .promoted = $0 { true } else { false } })
    }

    @Test("a victory with another head than the look saw stops the node with a contradiction")
    func otherHead() {
        let driver = Driver()
        driver.start()
        _ = driver.takeOver()
        driver.receive(.won(term: 8, head: LogPosition(number: 1, revision: 5)))
        #expect(driver.machine.role == .stopped && driver.machine.due == nil)
        guard case .stop(.contradiction(let text))? = driver.others.last else {
            Issue.record("\(driver.others)")
            return
        }
        #expect(text.contains("term 8 begins after entry 1"))
    }
}

/// The watch.
struct ClusterMachineWatchTests {
    private typealias Driver = MachineDriver

    private static let rows = TestRows.rows([1, 2, 3])
    private static let entries = rows.enumerated().flatMap { index, row in
        TestRows.entries(
            [row], behind: index == 0 ? TestRows.start : rows[index - 1].position,
            first: UInt64(index) + 1)
    }

    private static func applied(_ driver: Driver) -> [UInt64] {
        driver.others.flatMap { output -> [UInt64] in
            if case .apply(let rows, _) = output { rows.map(\.number) } else { [] }
        }
    }

    @Test("old and doubled entries are dropped; a gap opens the watch behind the last entry")
    func disorder() {
        let driver = Driver()
        driver.start()
        driver.receive(.entries([Self.entries[0], Self.entries[0]]))
        #expect(Self.applied(driver) == [1])
        driver.receive(.entries([Self.entries[2]]))
        #expect(driver.calls == [.watch(after: Self.entries[0].position)])
        #expect(Self.applied(driver) == [])
        // An event of the former watch does not open it once more.
        driver.receive(.entries([Self.entries[2]]))
        #expect(driver.outputs.isEmpty)
        driver.receive(.entries(Self.entries))
        #expect(Self.applied(driver) == [2, 3])
    }

    @Test("a look finds a watch that is silent, and opens it again")
    func silent() {
        let driver = Driver()
        driver.start()
        let seen = Driver.sighting(head: Self.entries[0].position)
        driver.receive(.sighting(seen))
        for isDue in [false, true] {
            driver.wait(200)
            driver.receive(.sighting(seen))
            #expect(driver.calls.contains(.watch(after: .beginning)) == isDue)
        }
    }

    @Test("a watch that ended and a new connection open it again")
    func reopened() {
        let driver = Driver()
        driver.start()
        driver.receive(.watchEnded("the member restarts"))
        #expect(driver.calls == [.watch(after: .beginning)])
        driver.receive(.down("gone"))
        #expect(driver.calls.isEmpty)
        driver.receive(.up)
        #expect(driver.calls.contains(.watch(after: .beginning)))
    }

    @Test("an entry of another history stops the node, and the fault names it")
    func forked() {
        let driver = Driver()
        driver.start()
        let other = RowPosition(number: 0, chain: 5)
        driver.receive(
            .entries(TestRows.entries(TestRows.rows([1], behind: other), behind: other)))
        #expect(driver.machine.role == .stopped)
        guard case .stop(let fault)? = driver.others.last else {
            Issue.record("\(driver.others)")
            return
        }
        #expect(fault.description.hasPrefix("FORKED: entry 1 of the cluster's log, revision 10"))
        driver.receive(.up)
        driver.wait(10_000)
        #expect(driver.outputs.isEmpty)
    }

    @Test("a stored value that cannot be decoded stops the node, and the fault names it")
    func damaged() {
        let driver = Driver()
        driver.start()
        let error = RecordError.excess(record: "leader record", at: 3, byteCount: 1)
        driver.receive(.damaged(error))
        #expect(driver.others == [.stop(.damaged(error))])
    }

    @Test("a node whose entries are compacted asks for a snapshot, and follows from there")
    func compacted() {
        let driver = Driver()
        driver.start()
        driver.receive(.compacted(upTo: 20))
        #expect(driver.machine.role == .awaitingSnapshot)
        #expect(
            driver.others == [.needsSnapshot(after: .beginning(seed: TestRows.start.chain))])
        driver.wait(5_000)
        #expect(driver.calls.map(\.kind) == [.announce])
        let position = AppliedPosition(
            row: Self.rows[1].position, entry: Self.entries[1].position, term: 5)
        driver.restart(from: position)
        #expect(driver.calls.first == .watch(after: Self.entries[1].position))
        driver.receive(.entries([Self.entries[2]]))
        #expect(Self.applied(driver) == [3])
    }
}
