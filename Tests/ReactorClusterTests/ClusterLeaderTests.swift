import Testing

@testable import ReactorCluster

/// Appending, deposition and stepping down. Drives ``ClusterMachine``.
struct ClusterLeaderTests {
    private typealias Driver = MachineDriver

    private static func append(_ driver: Driver) -> (entry: [UInt8], expected: UInt64)? {
        for case .append(let entry, let expected, let term) in driver.calls where term == 7 {
            return (entry, expected)
        }
        return nil
    }

    private static func rowCount(_ entry: [UInt8]) -> Int? {
        guard case .rows(let rows)? = try? LogEntry(bytes: entry).content else { return nil }
        return rows.count
    }

    private static func at(_ number: UInt64) -> LogPosition {
        LogPosition(number: number, revision: number * 10)
    }

    private static func refusal(
        term: UInt64 = 7, leader: LeaderRecord? = Driver.claim(1, incarnation: 4),
        last: StoredEntry? = nil
    ) -> LogRefusal { LogRefusal(last: last, term: term, leader: leader) }

    @Test("one entry is in flight, waiting rows go into the next, and rows in the log are told")
    func append() throws {
        let driver = Driver()
        driver.lead()
        let rows = TestRows.rows([1, 2, 3])
        driver.append([rows[0]])
        let first = try #require(Self.append(driver))
        #expect(first.expected == 0 && driver.others.isEmpty)
        driver.append([rows[1]])
        driver.append([rows[2]])
        #expect(driver.outputs.isEmpty)
        driver.receive(.appended(Self.at(1)))
        #expect(
            driver.others == [
                .appended(AppliedPosition(row: rows[0].position, entry: Self.at(1), term: 7))
            ])
        let second = try #require(Self.append(driver))
        #expect(second.expected == 1 && Self.rowCount(second.entry) == 2)
        driver.receive(.appended(Self.at(2)))
        #expect(driver.machine.position.row == rows[2].position)
    }

    @Test("an append without an answer is sent again unchanged, also over a new connection")
    func unknown() throws {
        let driver = Driver()
        driver.lead()
        driver.append(TestRows.rows([1]))
        let sent = driver.calls
        driver.receive(.unknown(.append, .error("no leader")))
        #expect(driver.others == [.outage(.error("no leader"))] && driver.calls.isEmpty)
        #expect(driver.machine.due == driver.now + 50_000_000)
        driver.wait(50)
        #expect(driver.calls == sent)
        driver.receive(.unknown(.append, .disconnected))
        driver.receive(.down("gone"))
        driver.wait(100)
        #expect(driver.calls.isEmpty)
        driver.receive(.up)
        #expect(driver.calls.filter { $0.kind == .append } == sent)
    }

    @Test("a refusal behind the leader's own entry means that the log has it: it is told, once")
    func kept() throws {
        let driver = Driver()
        driver.lead()
        let rows = TestRows.rows([1, 2])
        driver.append([rows[0]])
        let sent = try #require(Self.append(driver))
        driver.receive(.unknown(.append, .late))
        driver.wait(50)
        driver.receive(
            .refused(
                .append,
                Self.refusal(last: StoredEntry(position: Self.at(1), bytes: sent.entry))))
        #expect(
            driver.others == [
                .outage(nil),
                .appended(AppliedPosition(row: rows[0].position, entry: Self.at(1), term: 7)),
            ])
        driver.append([rows[1]])
        #expect(Self.append(driver)?.expected == 1)
    }

    @Test("a refusal under another leader deposes: rows that the log does not have are forgotten")
    func deposed() throws {
        let driver = Driver()
        driver.lead()
        let rows = TestRows.rows([1, 2])
        driver.append([rows[0]])
        driver.receive(.appended(Self.at(1)))
        driver.append([rows[1]])
        let other = Driver.claim(3)
        driver.receive(.refused(.append, Self.refusal(term: 20, leader: other)))
        #expect(driver.machine.role == .following)
        #expect(
            driver.others == [
                .leader(ClusterNode(3)),
                .deposed(term: 7, leader: other, after: rows[0].position),
            ])
        #expect(driver.calls.contains(.watch(after: Self.at(1))))
        driver.append(TestRows.rows([5], behind: rows[1].position))
        #expect(driver.outputs.isEmpty)
    }

    @Test("an entry that was kept before the deposition is applied from the log, and not told")
    func keptByTheLog() throws {
        let driver = Driver()
        driver.lead()
        let rows = TestRows.rows([1])
        driver.append(rows)
        let sent = try #require(Self.append(driver))
        driver.receive(.leader(term: 20, Driver.claim(3)))
        #expect(driver.machine.role == .following)
        // The answer to the abandoned append comes late.
        driver.receive(.appended(Self.at(1)))
        #expect(driver.others.isEmpty)
        driver.receive(.entries([StoredEntry(position: Self.at(1), bytes: sent.entry)]))
        #expect(
            driver.others == [
                .apply(rows, AppliedPosition(row: rows[0].position, entry: Self.at(1), term: 7))
            ])
    }

    @Test(
        "a refusal in the leader's term behind a foreign entry stops it, and so does a past term")
    func contradiction() {
        let foreign = StoredEntry(position: Self.at(1), bytes: [1])
        for refusal in [
            Self.refusal(last: foreign), Self.refusal(), Self.refusal(term: 6),
        ] {
            let driver = Driver()
            driver.lead()
            driver.append(TestRows.rows([1]))
            driver.receive(.refused(.append, refusal))
            #expect(driver.machine.role == .stopped)
        }
        let driver = Driver()
        driver.lead()
        driver.append(TestRows.rows([1]))
        driver.receive(.appended(Self.at(2)))
        #expect(driver.machine.role == .stopped)
    }

    @Test("a leader sends a beat only while it appends nothing, and a refused one deposes")
    func beats() {
        let driver = Driver()
        driver.lead()
        driver.wait(299)
        #expect(!driver.calls.contains(.beat(term: 7)))
        driver.wait(1)
        #expect(driver.calls.contains(.beat(term: 7)))
        driver.receive(.beaten)
        driver.wait(200)
        driver.append(TestRows.rows([1]))
        driver.receive(.appended(Self.at(1)))
        driver.wait(100)
        #expect(!driver.calls.contains(.beat(term: 7)))
        driver.wait(200)
        #expect(driver.calls.contains(.beat(term: 7)))
        driver.receive(.refused(.beat, Self.refusal(term: 9, leader: Driver.claim(2))))
        #expect(driver.machine.role == .following)
    }

    @Test("a leader without a confirmation stops acting, and acts again after the next one")
    func suspended() {
        let driver = Driver()
        driver.lead()
        driver.append(TestRows.rows([1]))
        driver.wait(1_349)
        #expect(driver.others.isEmpty)
        driver.wait(1)
        #expect(driver.others == [.suspended])
        #expect(driver.machine.role == .suspended(term: 7))
        // The append was sent too long ago.
        driver.receive(.appended(Self.at(1)))
        #expect(driver.others.count == 1 && driver.machine.role == .suspended(term: 7))
        #expect(driver.calls.contains(.beat(term: 7)))
        driver.receive(.beaten)
        #expect(driver.machine.role == .leading(term: 7))
        #expect(driver.others.contains(.resumed))
    }

    @Test(
        "a leader without a confirmation for twice the take-over time gives up, and may win again")
    func givesUp() throws {
        let driver = Driver()
        driver.lead()
        let rows = TestRows.rows([1])
        driver.append(rows)
        driver.wait(2_999)
        #expect(driver.others == [.suspended])
        driver.wait(1)
        let own = Driver.claim(1, incarnation: 4)
        #expect(driver.others == [.deposed(term: 7, leader: own, after: TestRows.start)])
        #expect(driver.machine.role == .following && driver.machine.currentAsOf == nil)
        #expect(driver.machine.isLedByFormerProcess)
        driver.append(rows)
        #expect(driver.others.isEmpty)
        // The engine answers again: the append was stored, and comes back as a row to apply.
        driver.receive(.appended(Self.at(1)))
        #expect(driver.others.isEmpty && driver.machine.position.row == TestRows.start)
        driver.receive(.entries(TestRows.entries(rows, term: 7)))
        guard case .apply(rows, let position)? = driver.others.first else {
            Issue.record("\(driver.others)")
            return
        }
        // No other node leads: it wins after a silence.
        let seen = Driver.sighting(head: position.entry, term: 7, leader: own)
        #expect(driver.takeOver(seen) != nil)
        driver.receive(.won(term: 40, head: position.entry))
        #expect(driver.machine.role == .leading(term: 40))
        #expect(!driver.machine.isLedByFormerProcess && driver.machine.currentAsOf != nil)
    }

    @Test("an event after a pause first ends the acting")
    func paused() {
        let driver = Driver()
        driver.lead()
        driver.append(TestRows.rows([1]))
        driver.machine.receive(.appended(Self.at(1)), at: driver.now + 9_000_000_000)
        let outputs = driver.machine.takeOutputs()
        #expect(outputs.first == .suspended && outputs.count >= 2)
    }

    @Test("a leader that steps down appends the waiting rows, then vacates, and takes no more rows")
    func stepDown() throws {
        let driver = Driver()
        driver.lead()
        let rows = TestRows.rows([1, 2])
        driver.append([rows[0]])
        driver.append([rows[1]])
        driver.stepDown(to: ClusterNode(2))
        #expect(driver.outputs.isEmpty && driver.machine.role == .steppingDown(term: 7))
        driver.append(TestRows.rows([1], behind: rows[1].position))
        driver.receive(.appended(Self.at(1)))
        #expect(driver.calls.map(\.kind) == [.append])
        driver.receive(.appended(Self.at(2)))
        #expect(driver.calls == [.vacate(term: 7, successor: ClusterNode(2))])
        #expect(driver.others.last == .suspended, "the successor may act before the answer")
        driver.receive(.unknown(.vacate, .late))
        driver.wait(50)
        #expect(driver.calls.contains(.vacate(term: 7, successor: ClusterNode(2))))
        driver.receive(.vacated(term: 30))
        #expect(driver.machine.role == .following)
        #expect(
            driver.others.contains(
                .deposed(
                    term: 7, leader: .vacant(successor: ClusterNode(2)),
                    after: rows[1].position)))
    }

    @Test(
        "a node that stepped down leaves the vacancy to others for a while, unless it is named",
        arguments: [nil, 1] as [UInt8?])
    func yielding(successor: UInt8?) {
        let driver = Driver()
        driver.lead()
        driver.wait(100)
        let named = successor.map { ClusterNode($0) }
        driver.stepDown(to: named)
        driver.receive(.vacated(term: 30))
        let began = driver.now
        let vacant = Driver.sighting(term: 30, leader: .vacant(successor: named))
        driver.receive(.sighting(vacant))
        #expect(driver.calls.contains { $0.kind == .takeOver } == (successor == 1))
        guard successor == nil else { return }
        while driver.now < began + 3_000_000_000 {
            driver.wait(200)
            driver.receive(.sighting(vacant))
            guard driver.calls.contains(where: { $0.kind == .takeOver }) else { continue }
            return #expect(driver.now - began >= 1_500_000_000)
        }
        Issue.record("no other node leads, and this one does not take over")
    }

    @Test("a leader compacts up to the entry that a majority has durably")
    func compaction() {
        let driver = Driver { $0.logBytes = 256 }
        driver.lead()
        let rows = TestRows.rows([Int](repeating: 60, count: 6))
        for (index, row) in rows.enumerated() {
            driver.append([row])
            driver.receive(.appended(Self.at(UInt64(index) + 1)))
        }
        let nodes = [(1, 5), (2, 3), (3, 0)].map { node, durable -> NodeSighting in
            var report = NodeReport(node: ClusterNode(UInt8(node)))
            report.durablePosition = Self.at(UInt64(durable))
            return NodeSighting(version: 9, report: report)
        }
        driver.wait(1_000)
        #expect(driver.calls.contains(.look))
        driver.receive(
            .sighting(
                Driver.sighting(
                    head: Self.at(6), term: 7, leader: Driver.claim(1, incarnation: 4),
                    nodes: nodes)))
        #expect(driver.calls.filter { $0.kind == .compact } == [.compact(upTo: Self.at(3))])
        #expect(driver.machine.book.reports.count == 3)
    }

    @Test("a leader without actions appends a row once a quarter of the maximum was written")
    func idle() {
        let driver = Driver { $0.logBytes = 8_000 }
        driver.lead()
        driver.append(TestRows.rows([60]))
        driver.receive(.appended(Self.at(1)))
        func look(beat: UInt64) -> Bool {
            for _ in 0..<3 {
                driver.wait(400)
                driver.receive(.beaten)
            }
            driver.receive(
                .sighting(
                    Driver.sighting(
                        head: Self.at(1), term: 7, leader: Driver.claim(1, incarnation: 4),
                        beat: beat)))
            return driver.others == [.needsRow]
        }
        let revision = Self.at(1).revision
        #expect(!look(beat: revision + 10) && look(beat: revision + 11))
        #expect(!look(beat: revision + 20), "it is asked for once")
        driver.append([TestRows.rows([60, 0])[1]])
        driver.receive(
            .appended(LogPosition(number: 2, revision: revision + 30)))
        #expect(driver.machine.uncompactedByteCount > 5_800)
        #expect(!look(beat: revision + 31) && look(beat: revision + 50))
    }
}
