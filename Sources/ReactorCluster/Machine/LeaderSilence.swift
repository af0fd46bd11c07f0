/// Measures for how long no leader has changed anything, as far as this node can know.
///
/// *Shape*: only answered looks count. The time between two of them counts as at most twice the
/// interval of the looks, and a look without an answer begins the measurement again. So the time in
/// which the engine elects its own leader does not count as silence of the cluster's leader.
struct LeaderSilence {
    private struct Span {
        let seen: LeaderSighting
        /// Silence that a take-over needs.
        let needed: UInt64
        var lookCount = 1
        var measured: UInt64 = 0
        var lastAt: UInt64
    }

    private let settings: ClusterSettings
    private var span: Span?
    private var lots: UInt64

    /// `seed` determines the random delays.
    init(_ settings: ClusterSettings, seed: UInt64) {
        self.settings = settings
        lots = seed
    }

    /// Adds a look that was answered at `now`.
    mutating func see(_ sighting: LeaderSighting, at now: UInt64) {
        guard var current = span, sighting.isUnmoved(since: current.seen) else {
            span = Span(
                seen: sighting, needed: settings.takeover + nextDelay(), lastAt: now)
            return
        }
        current.lookCount += 1
        current.measured += min(now - min(current.lastAt, now), 2 * settings.lookInterval)
        current.lastAt = now
        span = current
    }

    /// A look had no answer, or the leadership changed.
    mutating func interrupt() { span = nil }

    /// Whether the silence is long enough to take over.
    var isOver: Bool {
        guard let span else { return false }
        return span.lookCount >= settings.looksMin && span.measured >= span.needed
    }

    /// The steps of SplitMix64.
    private mutating func nextDelay() -> UInt64 {
        lots &+= 0x9e37_79b9_7f4a_7c15
        var mixed = lots
        mixed = (mixed ^ (mixed >> 30)) &* 0xbf58_476d_1ce4_e5b9
        mixed = (mixed ^ (mixed >> 27)) &* 0x94d0_49bb_1331_11eb
        return (mixed ^ (mixed >> 31)) % (settings.delayMax + 1)
    }
}
