import ReactorWire

/// Actions without an outcome, by their ordinals.
///
/// *Shape*: a ring of slots for the ordinals `first..<next`; those below `sentEnd` were written to
/// a connection. An action that waits for its answer while thousands overtake it becomes a
/// straggler outside the ring, so that the ring stays about as long as the window.
@usableFromInline
struct PendingActions {
    /// Receives an outcome.
    @usableFromInline typealias Completion = (ActionOutcome) -> Void

    @usableFromInline
    enum Slot {
        /// The action has its outcome, or there is no such action.
        case concluded
        /// The caller passed no completion.
        case silent
        case told(Completion)
        /// The action is of an earlier run of the program.
        case recovered
    }

    /// An action that was moved out of the ring, with its frame.
    struct Straggler {
        var slot: Slot
        var frame: [UInt8]
    }

    // Code that is inlined into programs appends actions, so these are not private.
    @usableFromInline var slots: [Slot]
    @usableFromInline var mask: UInt64
    /// Lowest ordinal that the ring holds.
    @usableFromInline var first: UInt64 = 1
    /// Ordinal of the next action.
    @usableFromInline var next: UInt64 = 1
    /// Ordinals below this were written to a connection of this session, or of an earlier one.
    @usableFromInline var sentEnd: UInt64 = 1
    /// Number of actions that were written and have no outcome.
    @usableFromInline var inFlight = 0
    private var stragglers: [UInt64: Straggler] = [:]

    init() {
        slots = [Slot](repeating: .concluded, count: 1_024)
        mask = 1_023
    }

    /// Actions that wait to be written.
    @usableFromInline var waitingCount: Int { Int(next &- sentEnd) }

    /// Highest ordinal up to which every outcome has arrived.
    var contiguous: UInt64 {
        (stragglers.isEmpty ? first : stragglers.keys.min() ?? first) - 1
    }

    /// Ordinals of the stragglers, ascending.
    var stragglerOrdinals: [UInt64] { stragglers.keys.sorted() }

    /// The frame of a straggler.
    func frame(ofStraggler ordinal: UInt64) -> [UInt8]? { stragglers[ordinal]?.frame }

    /// Takes the next ordinal, with which the caller has encoded the action.
    @inlinable
    mutating func append(_ completion: Completion?) {
        if next &- first > mask { grow() }
        slots[Int(next & mask)] = completion.map { .told($0) } ?? .silent
        next &+= 1
    }

    /// Counts the oldest `count` waiting actions as written to the connection.
    @inlinable
    mutating func send(_ count: Int = 1) {
        sentEnd &+= UInt64(count)
        inFlight &+= count
        assert(sentEnd <= next, "more actions were sent than exist")
    }

    @usableFromInline
    mutating func grow() {
        var larger = [Slot](repeating: .concluded, count: slots.count * 2)
        let newMask = UInt64(larger.count - 1)
        for ordinal in first..<next { larger[Int(ordinal & newMask)] = slots[Int(ordinal & mask)] }
        slots = larger
        mask = newMask
    }

    /// Sets the first ordinal, before any action is appended.
    mutating func start(from ordinal: UInt64) {
        precondition(first == next, "actions have ordinals already")
        first = ordinal
        next = ordinal
        sentEnd = ordinal
    }

    /// Adds an action of an earlier run, whose ordinal is below the first.
    mutating func restore(_ ordinal: UInt64, _ frame: [UInt8]) {
        precondition(ordinal < first, "\(ordinal) is no ordinal of an earlier run")
        stragglers[ordinal] = Straggler(slot: .recovered, frame: frame)
        inFlight &+= 1
    }

    /// Raises every ordinal.
    mutating func shift(by count: UInt64) {
        var moved = [Slot](repeating: .concluded, count: slots.count)
        for ordinal in first..<next {
            moved[Int((ordinal &+ count) & mask)] = slots[Int(ordinal & mask)]
        }
        slots = moved
        first &+= count
        next &+= count
        sentEnd &+= count
    }

    func isPending(_ ordinal: UInt64) -> Bool {
        if ordinal < first { return stragglers[ordinal] != nil }
        guard ordinal < next else { return false }
        if case .concluded = slots[Int(ordinal & mask)] { return false }
        return true
    }

    /// Number of ordinals of a run that certainly have their outcomes: those below the ring, if
    /// there are no stragglers.
    func concludedCount(of run: UInt64, from ordinal: UInt64) -> UInt64 {
        stragglers.isEmpty && first > ordinal ? min(run, first - ordinal) : 0
    }

    /// Takes out the slot of a written action.
    mutating func take(_ ordinal: UInt64) -> Slot {
        guard ordinal >= first, ordinal < sentEnd else {
            guard let straggler = stragglers.removeValue(forKey: ordinal) else { return .concluded }
            inFlight &-= 1
            return straggler.slot
        }
        var slot = Slot.concluded
        swap(&slot, &slots[Int(ordinal & mask)])
        if case .concluded = slot { return slot }
        inFlight &-= 1
        if ordinal == first { advance() }
        return slot
    }

    private mutating func advance() {
        while first < sentEnd, case .concluded = slots[Int(first & mask)] { first &+= 1 }
    }

    /// True while the oldest action keeps the ring far longer than the actions under way need.
    var isHeldUp: Bool {
        first < sentEnd && sentEnd &- first > 4_096 &+ UInt64(2 &* inFlight)
    }

    /// Makes the oldest action a straggler, with the `frame` that was written for it.
    mutating func setAside(_ frame: [UInt8]) {
        stragglers[first] = Straggler(slot: slots[Int(first & mask)], frame: frame)
        slots[Int(first & mask)] = .concluded
        advance()
    }

    /// Traps in a debug build unless the ordinals are in order, the ring holds them all, and the
    /// oldest written action in it has no outcome.
    func invariants() {
        assert(first <= sentEnd && sentEnd <= next, "\(first) \(sentEnd) \(next) are out of order")
        assert(next &- first <= mask &+ 1, "the ring is shorter than what is pending")
        assert(inFlight >= stragglers.count, "\(inFlight) in flight, more stragglers")
        assert(first == sentEnd || isPending(first), "\(first) has an outcome")
        assert(stragglers.keys.allSatisfy { $0 < first }, "a straggler is in the ring")
    }
}
