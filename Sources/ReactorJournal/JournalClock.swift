/// Stamps rows with the wall clock, and tells a step of that clock from time that has passed.
///
/// *Place*: in the committer, asked once a commit. A clock that can be set is compared with one
/// that cannot: where the two disagree by more than ``stepMin``, the wall clock has stepped. Rows
/// say what the wall clock said; how long ago a row was written goes by ``ClockSteps``.
struct JournalClock {
    /// Milliseconds by which the wall clock may run ahead or behind before that counts as a step.
    static let stepMin: Int64 = 60_000

    private(set) var steps: ClockSteps
    /// Whether ``steps`` has an entry that the journal does not hold yet.
    var isUnwritten = false
    private var wall: Int64
    private var uptime: Int64

    /// Goes on with what a journal knows; the two clocks agree as of now.
    init(_ steps: ClockSteps, wall: Int64, uptime: Int64) {
        self.steps = steps
        self.wall = wall
        self.uptime = uptime
    }

    /// The time of the rows behind `position`: what the wall clock says, but not before the row at
    /// `position` where the clock is behind that by less than a step.
    mutating func stamp(behind position: JournalPosition, wall now: Int64, uptime: Int64) -> Int64 {
        let expected = wall.addingSaturated(uptime.subtractingSaturated(self.uptime))
        let deviation = now.subtractingSaturated(expected)
        wall = now
        self.uptime = uptime
        if !deviation.isWithin(Self.stepMin) { return note(deviation, position, now) }
        // The clock was set back while no daemon ran.
        let gap = now.subtractingSaturated(position.time)
        if gap < -Self.stepMin { return note(gap, position, now) }
        return max(now, position.time)
    }

    private mutating func note(_ step: Int64, _ position: JournalPosition, _ now: Int64) -> Int64 {
        steps.add(step, from: position.number + 1)
        isUnwritten = true
        return now
    }
}

/// How far the wall clock has stepped since a journal began, by rows.
///
/// *Shape*: in a journal, pairs of words: the first row behind a step, and the milliseconds to add
/// to the times from that row on, so that all of them are of one clock that never steps.
struct ClockSteps: Equatable, Sendable {
    private struct Entry: Equatable, Sendable {
        var first: UInt64
        var offset: Int64
    }

    private var entries: [Entry] = []

    static let key = "clock"
    // A clock that steps more often is no clock.
    /// Most steps that are kept; the oldest goes first.
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

    /// Takes note that the wall clock went ahead by `step` before the row numbered `first`.
    mutating func add(_ step: Int64, from first: UInt64) {
        let offset = (entries.last?.offset ?? 0).subtractingSaturated(step)
        // A commit that was refused leaves its number to the next.
        if entries.last?.first == first { entries.removeLast() }
        if entries.count == Self.countMax { entries.removeFirst() }
        entries.append(Entry(first: first, offset: offset))
    }

    /// The time of a row by the clock that never steps.
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
