import ReactorWire

/// Actions without an outcome, found by their ordinals.
///
/// *Shape*: a ring of slots for the ordinals `first..<next`; those below `sentEnd` were written to
/// a connection. An action whose answer takes long while thousands overtake it is moved aside, so
/// that the ring stays as long as the window.
@usableFromInline
struct PendingActions {
    /// What to do with an outcome.
    @usableFromInline typealias Completion = (ActionOutcome) -> Void

    @usableFromInline
    enum Slot {
        case concluded
        /// Nobody wants to know.
        case silent
        case told(Completion)
    }

    /// An action that was moved aside, with its frame.
    struct Straggler {
        var slot: Slot
        var frame: [UInt8]
    }

    @usableFromInline var slots: [Slot]
    @usableFromInline var mask: UInt64
    /// Lowest ordinal that the ring holds.
    @usableFromInline var first: UInt64 = 1
    /// Ordinal of the next action.
    @usableFromInline var next: UInt64 = 1
    /// Ordinals below this were written to a connection of the session at hand, or an earlier one.
    @usableFromInline var sentEnd: UInt64 = 1
    /// Actions written and without an outcome.
    @usableFromInline var inFlight = 0
    var stragglers: [UInt64: Straggler] = [:]

    init() {
        slots = [Slot](repeating: .concluded, count: 1_024)
        mask = 1_023
    }

    /// Actions that wait to be written.
    @usableFromInline var waitingCount: Int { Int(next &- sentEnd) }

    /// Highest ordinal up to which every outcome has arrived.
    var contiguous: UInt64 { (stragglers.keys.min() ?? first) - 1 }

    /// Takes the next ordinal; the caller has encoded the action with it.
    @inlinable
    mutating func append(_ completion: Completion?) {
        if next &- first > mask { grow() }
        slots[Int(next & mask)] = completion.map { .told($0) } ?? .silent
        next &+= 1
    }

    /// Counts the last action as written to the connection.
    @inlinable
    mutating func noteSent() {
        sentEnd = next
        inFlight &+= 1
    }

    @usableFromInline
    mutating func grow() {
        var larger = [Slot](repeating: .concluded, count: slots.count * 2)
        let newMask = UInt64(larger.count - 1)
        for ordinal in first..<next { larger[Int(ordinal & newMask)] = slots[Int(ordinal & mask)] }
        slots = larger
        mask = newMask
    }

    /// Begins with an ordinal; nothing was appended yet.
    mutating func start(from ordinal: UInt64) {
        first = ordinal
        next = ordinal
        sentEnd = ordinal
    }

    /// Takes in an action of an earlier run, below the first.
    mutating func restore(
        _ ordinal: UInt64, _ frame: [UInt8], _ completion: @escaping Completion
    ) {
        stragglers[ordinal] = Straggler(slot: .told(completion), frame: frame)
        inFlight &+= 1
    }

    /// Moves every ordinal up.
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

    /// Takes out who waits for the outcome of a written action; `concluded` if nobody does.
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

    /// Whether the oldest action holds up a ring that is far longer than what is under way.
    var isHeldUp: Bool {
        first < sentEnd && sentEnd &- first > 4_096 &+ UInt64(2 &* inFlight)
    }

    /// Moves the oldest action aside; `frame` is what was written for it.
    mutating func setAside(_ frame: [UInt8]) {
        stragglers[first] = Straggler(slot: slots[Int(first & mask)], frame: frame)
        slots[Int(first & mask)] = .concluded
        advance()
    }
}
