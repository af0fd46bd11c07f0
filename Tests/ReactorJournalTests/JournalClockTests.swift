import ReactorThreads
import Testing

@testable import ReactorJournal

/// A wall clock that a test sets, and a clock that cannot be set.
private final class TwoClocks: Sendable {
    private let state = Guarded((wall: 1_700_000_000_000 as Int64, uptime: 0 as Int64))

    /// The wall clock, in milliseconds.
    var wall: Int64 { state.withLock { $0.wall } }

    func plant(in rig: JournalRig) {
        rig.tuning.now = { [state] in state.withLock { $0.wall } }
        rig.tuning.uptime = { [state] in state.withLock { $0.uptime } }
    }

    /// Advances both clocks.
    func pass(_ milliseconds: Int64) {
        state.withLock { ($0.wall, $0.uptime) = ($0.wall + milliseconds, $0.uptime + milliseconds) }
    }

    /// Sets the wall clock ahead or back.
    func step(_ milliseconds: Int64) { state.withLock { $0.wall += milliseconds } }

    /// Advances the wall clock while the machine is off.
    func sleep(_ milliseconds: Int64) {
        state.withLock { ($0.wall, $0.uptime) = ($0.wall + milliseconds, 0) }
    }
}

@Suite("The clock of rows")
struct JournalClockTests {
    private static let year: Int64 = 365 * 86_400_000

    /// Appends a row a second.
    private func append(
        _ count: Int, _ rig: JournalRig, _ journal: SQLiteJournal, _ clock: TwoClocks
    ) {
        for _ in 0..<count {
            clock.pass(1_000)
            rig.append(1, to: journal)
        }
    }

    @Test(
        "J67: after the wall clock is corrected, rows have the correct time again")
    func stamps() throws {
        let (rig, clock) = (JournalRig(), TwoClocks())
        clock.plant(in: rig)
        let journal = try rig.open()
        append(1, rig, journal, clock)
        let first = clock.wall
        clock.step(10 * Self.year)
        append(1, rig, journal, clock)
        let latest = clock.wall
        clock.step(-10 * Self.year)
        append(1, rig, journal, clock)
        #expect(journal.latestTime == latest)
        // A correction by a time server is no step: a row's time is not before that of the row
        // before.
        clock.step(-30_000)
        append(1, rig, journal, clock)
        journal.close()
        #expect(
            try rig.rows().map { $0.time - first } == [0, 10 * Self.year + 1_000, 2_000, 2_000])
    }

    @Test(
        "J67: a step of the wall clock in either direction does not change the age of rows",
        arguments: [10, -10] as [Int64], [false, true])
    func ages(years: Int64, isRestarted: Bool) throws {
        let (rig, clock) = (JournalRig(), TwoClocks())
        clock.plant(in: rig)
        var journal = try rig.open()
        let kept = JournalRetention(duration: .seconds(15), byteCount: .max)
        func trimmed() -> UInt64? {
            rig.trim(journal, behind: journal.lastNumber, keeping: kept)
                .flatMap { try? $0.get().anchor.number }
        }
        append(10, rig, journal, clock)
        clock.step(years * Self.year)
        append(2, rig, journal, clock)
        #expect(trimmed() == 0)
        if isRestarted {
            journal.close()
            clock.sleep(2_000)
            journal = try rig.open()
        }
        clock.step(-years * Self.year)
        append(2, rig, journal, clock)
        #expect(trimmed() == 0)
        append(10, rig, journal, clock)
        // Row 24 is the newest, and row 9 is 15 seconds older; a restart took two more.
        #expect(trimmed() == (isRestarted ? 10 : 8))
        journal.close()
    }

    @Test("a clock set back while no daemon ran does not add to the age of rows")
    func setBack() throws {
        let (rig, clock) = (JournalRig(), TwoClocks())
        clock.plant(in: rig)
        var journal = try rig.open()
        append(5, rig, journal, clock)
        journal.close()
        clock.sleep(-Self.year)
        journal = try rig.open()
        append(5, rig, journal, clock)
        let result = rig.trim(
            journal, behind: 10, keeping: JournalRetention(duration: .seconds(6), byteCount: .max))
        // The gap does not count: row 6 is as old as row 5.
        #expect(result.flatMap { try? $0.get().anchor.number } == 2)
        journal.close()
        let times = try rig.rows().map(\.time)
        #expect(try #require(times.last) < (try #require(times.first)))
    }

    @Test("steps of the clock are decoded from words, and only the latest are kept")
    func words() {
        var steps = ClockSteps()
        #expect(ClockSteps(words: []) == steps && steps.steady(5, of: 1) == 5)
        for number in 1...80 as ClosedRange<UInt64> {
            steps.add(number == 80 ? -7 : 1, from: number)
        }
        #expect(ClockSteps(words: steps.words) == steps)
        #expect(steps.steady(100, of: 79) == 21 && steps.steady(100, of: 80) == 28)
        steps.add(3, from: 80)
        #expect(steps.steady(100, of: 80) == 25)
        #expect(ClockSteps(words: [1]) == nil)
        #expect(ClockSteps(words: [UInt64](repeating: 1, count: 130)) == nil)
        #expect(steps.steady(.min, of: 79) == .min)
    }
}
