/// Stamps rows with the wall clock, and detects steps of that clock.
///
/// *Place*: in the committer, called once per commit. Compares the wall clock with a monotonic
/// clock: if the two disagree by more than ``stepMin``, the wall clock was set. Rows contain the
/// wall clock's time; the age of a row is computed through ``ClockSteps``.
struct JournalClock {
    /// Minimum deviation of the wall clock, in milliseconds, that counts as a step.
    static let stepMin: Int64 = 60_000

    private(set) var steps: ClockSteps
    /// Whether ``steps`` has an entry that is not in the journal yet.
    var isUnwritten = false
    private var wall: Int64
    private var uptime: Int64

    /// Continues with the steps in a journal. From here on the two clocks are compared.
    init(_ steps: ClockSteps, wall: Int64, uptime: Int64) {
        self.steps = steps
        self.wall = wall
        self.uptime = uptime
    }

    /// Returns the time for the rows after `position`: the wall clock's time, or the time of the
    /// row at `position` if the wall clock is behind it by less than a step.
    mutating func stamp(behind position: JournalPosition, wall now: Int64, uptime: Int64) -> Int64 {
        let expected = wall.addingSaturated(uptime.subtractingSaturated(self.uptime))
        let deviation = now.subtractingSaturated(expected)
        wall = now
        self.uptime = uptime
        if !deviation.isWithin(Self.stepMin) { return recordStep(deviation, position, now) }
        // The clock was set back while no daemon was running.
        let gap = now.subtractingSaturated(position.time)
        if gap < -Self.stepMin { return recordStep(gap, position, now) }
        return max(now, position.time)
    }

    private mutating func recordStep(_ step: Int64, _ position: JournalPosition, _ now: Int64)
        -> Int64
    {
        steps.add(step, from: position.number + 1)
        isUnwritten = true
        return now
    }
}

/// The steps of the wall clock since a journal began, by row.
///
/// *Shape*: in a journal, pairs of words: the first row after a step, and the milliseconds to add
/// to the times from that row on, so that all times are of one clock that never steps.
struct ClockSteps: Equatable, Sendable {
    private struct Entry: Equatable, Sendable {
        var first: UInt64
        var offset: Int64
    }

    private var entries: [Entry] = []

    static let key = "clock"
    /// Maximum number of stored steps; the oldest is removed first. A clock that steps more often
    /// is of no use for retention.
    private static let countMax = 64

    init() {}

    init?(words: [UInt64]) {
        guard words.count.isMultiple(of: 2), words.count <= 2 * Self.countMax else { return nil }
        for index in stride(from: 0, to: words.count, by: 2) {
            entries.append(
                Entry(first: words[index], offset: Int64(bitPattern: words[index + 1])))
        }
    }

    var words: [UInt64] { entries.flatMap { [$0.first, UInt64(bitPattern: $0.offset)] } }

    /// Records that the wall clock moved ahead by `step` before row `first`.
    mutating func add(_ step: Int64, from first: UInt64) {
        let offset = (entries.last?.offset ?? 0).subtractingSaturated(step)
        // A refused commit leaves its row number to the next commit.
        if entries.last?.first == first { entries.removeLast() }
        if entries.count == Self.countMax { entries.removeFirst() }
        entries.append(Entry(first: first, offset: offset))
    }

    /// Returns the time of a row on the clock that never steps.
    func steady(_ time: Int64, of row: UInt64) -> Int64 {
        time.addingSaturated(entries.last { $0.first <= row }?.offset ?? 0)
    }
}

extension Int64 {
    func subtractingSaturated(_ other: Int64) -> Int64 {
        let (difference, overflows) = subtractingReportingOverflow(other)
        return overflows ? (other > 0 ? .min : .max) : difference
    }

    func addingSaturated(_ other: Int64) -> Int64 {
        let (sum, overflows) = addingReportingOverflow(other)
        return overflows ? (other > 0 ? .max : .min) : sum
    }

    fileprivate func isWithin(_ most: Int64) -> Bool { (-most...most).contains(self) }
}
