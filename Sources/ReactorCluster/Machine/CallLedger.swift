/// Which calls to the engine have no answer yet, and when each may be made next.
///
/// *Shape*: at most one call of each kind is unanswered. The answer to an abandoned call is
/// awaited, and then dropped.
struct CallLedger {
    private struct Slot {
        var isUnanswered = false
        var isAbandoned = false
        /// The next call of the kind is not made before this time.
        var earliest: UInt64 = 0
    }

    /// Whether a connection is open.
    private(set) var isUp = false
    private var slots: [EngineCallKind: Slot] = [:]

    /// A connection is open: nothing is unanswered.
    mutating func open() {
        isUp = true
        for kind in slots.keys { slots[kind]?.isUnanswered = false }
    }

    /// The connection ended.
    mutating func close() { isUp = false }

    /// Whether a call of this kind may be made now.
    func isReady(_ kind: EngineCallKind, at now: UInt64) -> Bool {
        guard isUp else { return false }
        guard let slot = slots[kind] else { return true }
        return !slot.isUnanswered && slot.earliest <= now
    }

    /// When a call of this kind may be made; nil while one is unanswered, or without a connection.
    func readyTime(_ kind: EngineCallKind) -> UInt64? {
        guard isUp else { return nil }
        guard let slot = slots[kind] else { return 0 }
        return slot.isUnanswered ? nil : slot.earliest
    }

    /// When the first call of these kinds may be made; nil if none may.
    func readyTime(of kinds: [EngineCallKind]) -> UInt64? { kinds.compactMap(readyTime).min() }

    /// A call is made; the next of its kind is not made before `earliest`.
    mutating func begin(_ kind: EngineCallKind, nextAt earliest: UInt64) {
        slots[kind] = Slot(isUnanswered: true, earliest: earliest)
    }

    /// An answer came. Returns false if nothing depends on it.
    mutating func finish(_ kind: EngineCallKind) -> Bool {
        guard var slot = slots[kind], slot.isUnanswered else { return false }
        let isWanted = !slot.isAbandoned
        (slot.isUnanswered, slot.isAbandoned) = (false, false)
        slots[kind] = slot
        return isWanted
    }

    /// Nothing depends on the answer to the call of this kind any more.
    mutating func abandon(_ kind: EngineCallKind) {
        if slots[kind]?.isUnanswered == true { slots[kind]?.isAbandoned = true }
    }

    /// The next call of this kind is not made before `time`, which may be earlier than before.
    mutating func plan(_ kind: EngineCallKind, at time: UInt64) {
        slots[kind, default: Slot()].earliest = time
    }

    /// The next call of this kind need not wait longer than until `time`.
    mutating func plan(_ kind: EngineCallKind, noLaterThan time: UInt64) {
        let earliest = slots[kind]?.earliest ?? 0
        slots[kind, default: Slot()].earliest = min(earliest, time)
    }
}
