/// Measures how long the input of each user takes in a turn, where clients of several users are
/// connected.
///
///     guard time.begin(peer) else { … }   // the user has used its time of the turn
///     … if time.isSpent { … }             // between two frames
///     time.end()
///
/// *Place*: ``Intake`` measures what it handles, ``Dispatcher`` ends a run of actions when the time
/// is spent. An administrator at the second socket is not measured. *Cost*: without a clock, no time
/// is read; with one user, nothing begins. ``invariants()`` states the invariants.
final class InputTime {
    /// Returns the time in nanoseconds; nil in a server without a clock.
    private var clock: (() -> UInt64)?
    /// Nanoseconds that the input of one user may take in a turn.
    private var nanosecondsMax: UInt64
    private let ownerUID: UInt32?
    /// Nanoseconds of this turn, by user.
    private var used: [UInt32: UInt64] = [:]
    /// Whether ``used`` has entries.
    private var isUsed = false
    /// The user whose input is being handled, the time at which that began, and when its time is
    /// spent.
    private var running: (uid: UInt32, since: UInt64, end: UInt64)?

    // Few, so that a user exceeds its time by little; several, so that a clock is cheap beside them.
    /// Plain actions of a run between two readings of the clock.
    static let actionsPerReading: UInt64 = 16

    init(_ limits: ServerLimits, ownerUID: UInt32?) {
        nanosecondsMax = limits.turnTimePerUID
        self.ownerUID = ownerUID
    }

    /// Applies other limits from the next input on.
    func setLimits(_ limits: ServerLimits) { nanosecondsMax = limits.turnTimePerUID }

    /// Measures with `clock` from now on.
    func measure(by clock: @escaping () -> UInt64) { self.clock = clock }

    /// Continues with the clock of a former server.
    func succeed(_ former: InputTime) { clock = former.clock }

    /// Whether the input in progress is measured.
    @inline(__always) var isMeasuring: Bool { running != nil }

    /// Whether the user whose input is in progress has used its time of the turn. *Cost*: reads the
    /// clock.
    var isSpent: Bool {
        guard let running, let clock else { return false }
        return clock() >= running.end
    }

    /// Begins with input of `peer`. Returns false if the user has used its time of the turn. A
    /// connection that is greeting may send one frame then, so that it is not taken for silent.
    func begin(_ peer: Peer, isGreeting: Bool = false) -> Bool {
        guard let clock, !peer.isAdministrator(ownerUID: ownerUID) else { return true }
        let spent = used[peer.uid] ?? 0
        guard spent < nanosecondsMax || isGreeting else { return false }
        let now = clock()
        running = (peer.uid, now, now &+ (nanosecondsMax - min(spent, nanosecondsMax)))
        return true
    }

    /// Ends what ``begin(_:isGreeting:)`` began; does nothing if it began nothing.
    @inline(__always)
    func end() { if isMeasuring { stop() } }

    private func stop() {
        guard let running, let clock else { return }
        self.running = nil
        isUsed = true
        used[running.uid, default: 0] &+= clock() &- running.since
    }

    /// Begins a turn: every user has its time again.
    func beginTurn() {
        invariants()
        guard isUsed else { return }
        isUsed = false
        used.removeAll(keepingCapacity: true)
    }

    /// Checks the invariants between two inputs, in debug builds.
    @inline(__always)
    private func invariants() {
        assert(running == nil, "input is in progress that has ended")
        assert(isUsed || used.isEmpty, "times of users are kept beyond their turn")
    }
}
