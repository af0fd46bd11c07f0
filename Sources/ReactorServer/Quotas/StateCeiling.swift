import ReactorCore
import ReactorWire

/// Counts the bytes of all states against ``ServerLimits/stateBytesMax``, and decides whether actions
/// may make states larger.
///
///     guard ceiling.admitsGrowth else { … }    // before an action, or a run of plain actions
///     ceiling.endTurn()                        // once a turn
///     ceiling.tick()                           // once a second
///
/// To encode a state after each action would cost more than the action. So the size of a state is
/// that of its last measurement, and the bytes of later deltas count as growth. Once measured bytes
/// and growth reach the ceiling, the states that changed are measured; then at the earliest after a
/// growth of a 64th of the ceiling. Besides, a tick measures some of the states that changed. From
/// 100 % on, only actions that make states smaller may run, until a measurement finds less than
/// 95 %; all changed states are then measured now and then.
///
/// *Place*: ``Dispatcher`` asks it, ``TurnSealer`` ends its turns. *Owner*: call it between two
/// transactions. *Cost*: without a ceiling none; below it, one comparison for a run of actions, one
/// addition for a turn, the encoding of each new node's state, and ``tickBytes`` a second. ``differences()`` states the invariants.
final class StateCeiling {
    /// The ceiling in bytes; 0 without one.
    private(set) var byteCountMax = 0
    /// Whether only actions that make states smaller may run.
    private(set) var isFull = false
    /// Whether the process has reached ``ServerLimits/memoryMax``, whatever the states have.
    private(set) var isMemoryFull = false
    private let tree: Tree
    private let turn: Turn
    /// The sum of ``AnyNode/stateByteCount`` of all nodes.
    private var measuredByteCount = 0
    /// Bytes of the largest state; it may have become smaller since.
    private var largestMeasured = 0
    /// The sequence up to which every changed state is measured.
    private var measuredSequence: UInt64 = 0
    /// Growth by the deltas of ended turns and by new nodes since then.
    private var grownByteCount = 0
    /// Bytes of the current turn's deltas that a measurement covers.
    private var coveredByteCount = 0
    /// Bytes by which actions have made states smaller since then, while the ceiling is reached.
    private var shrunkByteCount = 0
    /// Growth at which the next measurement is due.
    private var growthMax = Int.max
    /// Bytes that ``tick()`` may encode.
    private var tickByteCount = 0
    /// Ticks since all changed states were measured at the latest, while the ceiling is reached.
    private var waitedTicks = 0
    /// Whether ``Tree/onMount`` reports new nodes.
    private var isObserving = false

    /// Growth between two measurements near the ceiling, as a share of it.
    private static let stepShare = 64
    /// Bytes that a tick may encode beyond what earlier ticks left over.
    static let tickBytes = 256 << 10
    /// Bytes that one tick may encode at most. A larger state is measured near the ceiling only.
    static let tickBytesMax = 8 << 20
    // A daemon encodes some hundred megabytes in a second.
    /// At the ceiling, all changed states are measured once for each so many bytes of states and
    /// second, so that it takes a small part of the time.
    static let fullBytesPerTick = 16 << 20
    /// Nodes that one tick looks at, at most.
    static let tickNodesMax = 65_536

    /// Continues from `recovery`, which may have measured the states.
    init(_ recovery: Recovery, _ limits: ServerLimits) {
        tree = recovery.tree
        turn = tree.turn
        byteCountMax = limits.stateByteCountMax
        if byteCountMax > 0 { begin(recovery) }
    }

    /// Applies other limits from here on. *Cost*: for the first ceiling, encodes every state.
    func setLimits(_ limits: ServerLimits) {
        let former = byteCountMax
        byteCountMax = limits.stateByteCountMax
        guard byteCountMax != former else { return }
        if byteCountMax == 0 {
            (isFull, growthMax) = (false, .max)
        } else if former == 0 {
            begin(nil)
        } else {
            setLevel()
            if !isFull, growth >= growthMax { measure() }
        }
    }

    private func begin(_ recovery: Recovery?) {
        if let sequence = recovery?.measuredSequence {
            measuredSequence = sequence
            grownByteCount = recovery?.deltaByteCount ?? 0
            measuredByteCount = sumOfNodes
        } else {
            measuredByteCount = 0
            tree.forEachNode { node in
                node.measureState()
                measuredByteCount += node.stateByteCount
            }
            cover()
        }
        largestMeasured = tree.largestStateByteCount
        setLevel()
        if growth >= growthMax { measure() }
        guard !isObserving else { return }
        isObserving = true
        let former = tree.onMount
        tree.onMount = { [weak self] node in
            former?(node)
            self?.add(node)
        }
    }

    /// Counts the first state of a new node: no delta has it.
    private func add(_ node: AnyNode) {
        guard byteCountMax > 0, !node.isDerived else { return }
        grownByteCount += node.encodedByteCount
    }

    /// Bytes of the largest state, too many rather than too few; 0 without a ceiling. `isExact`
    /// measures what changed since the last measurement: deltas that replace values count as growth
    /// until then. *Cost*: for an exact number, O(nodes) more.
    func largestByteCount(isExact: Bool) -> Int {
        guard byteCountMax > 0 else { return 0 }
        if isExact {
            if growth > 0 || shrunkByteCount > 0 { measure() }
            largestMeasured = tree.largestStateByteCount
        }
        return largestMeasured + growth
    }

    /// Growth since the last measurement, in bytes.
    private var growth: Int { grownByteCount &+ turn.deltaByteCount &- coveredByteCount }

    /// The bytes of all states, rather too many than too few; 0 without a ceiling.
    var byteCount: Int { byteCountMax == 0 ? 0 : measuredByteCount + growth }

    /// Whether actions that make states larger may run.
    @inline(__always)
    var admitsGrowth: Bool { growth < growthMax || decide() }

    private func decide() -> Bool {
        if !isFull || growth + shrunkByteCount >= step { measure() }
        return !isFull
    }

    /// The rejection of an action that makes states larger; `memoryMax` is the ceiling of the process
    /// where that is reached instead.
    func rejection(memoryMax: Int?) -> Rejection {
        let limit =
            memoryMax.map { "the daemon has reached memoryMax \($0) bytes" }
            ?? "all states together have reached stateBytesMax \(byteCountMax) bytes"
        return Rejection(
            .memoryFull,
            "\(limit): until states are smaller, the daemon accepts only actions that make them "
                + "smaller")
    }

    /// Records whether the process has reached its maximum of memory.
    func refuseGrowth(while isMemoryFull: Bool) { self.isMemoryFull = isMemoryFull }

    /// Counts the bytes by which an action has made states smaller.
    func shrink(by byteCount: Int) { shrunkByteCount += byteCount }

    /// Ends a turn, before the tree's turn begins anew.
    func endTurn() {
        guard byteCountMax > 0 else { return }
        if turn.hasRemoved { settleRemoved() }
        if isFull, growth + shrunkByteCount >= step { measure() }
        (grownByteCount, coveredByteCount) = (growth, 0)
    }

    /// Measures the states that changed, as far as that is cheap. Call it once a second.
    func tick() {
        guard byteCountMax > 0 else { return }
        tickByteCount = min(tickByteCount + Self.tickBytes, Self.tickBytesMax)
        guard growth > 0 || shrunkByteCount > 0 else { return }
        // A timer or an effect may have emptied a state that is too large for a tick.
        waitedTicks = isFull ? waitedTicks + 1 : 0
        if isFull, waitedTicks * Self.fullBytesPerTick >= measuredByteCount {
            waitedTicks = 0
            return measure()
        }
        var allowance = Allowance(byteCount: tickByteCount, nodeCount: Self.tickNodesMax)
        measure(&allowance)
        tickByteCount = allowance.byteCount
    }

    /// Checks the counter against the nodes; returns a text for each difference. *Cost*: O(nodes);
    /// if nothing has grown since the last measurement, it encodes all states.
    func differences() -> [String] {
        guard byteCountMax > 0 else { return [] }
        let removed = turn.removed.reduce(0) { $0 + $1.stateByteCount }
        let sum = sumOfNodes + removed
        guard sum == measuredByteCount else {
            return ["states: \(measuredByteCount) bytes are counted, nodes have \(sum)"]
        }
        guard measuredSequence == turn.sequence, removed == 0 else { return [] }
        let counted = measuredByteCount
        var held = 0
        tree.forEachNode { node in
            if !node.isDerived { held += node.encodedByteCount }
        }
        return held == counted ? [] : ["states: \(counted) bytes are counted, \(held) are held"]
    }
}

// MARK: - Measuring
extension StateCeiling {
    /// What a measurement may cost at most.
    private struct Allowance {
        var byteCount = Int.max
        var nodeCount = Int.max
        /// Whether a changed state was left out.
        var isExceeded = false
    }

    private var sumOfNodes: Int {
        var sum = 0
        tree.forEachNode { sum += $0.stateByteCount }
        return sum
    }

    private var step: Int { max(1, byteCountMax / Self.stepShare) }

    /// Measures all states that changed since the last measurement.
    private func measure() {
        var allowance = Allowance()
        measure(&allowance)
    }

    private func measure(_ allowance: inout Allowance) {
        settleRemoved()
        visit(tree.root, &allowance)
        if !allowance.isExceeded { cover() }
        setLevel()
    }

    /// Records that every state is measured as of now.
    private func cover() {
        measuredSequence = turn.sequence
        (grownByteCount, shrunkByteCount) = (0, 0)
        coveredByteCount = turn.deltaByteCount
    }

    /// Measures a node that has changed, and those below it that have.
    private func visit(_ node: AnyNode, _ allowance: inout Allowance) {
        allowance.nodeCount -= 1
        guard node.sequence > measuredSequence else { return }
        if node.stateByteCount <= allowance.byteCount {
            measuredByteCount += node.measureState()
            largestMeasured = max(largestMeasured, node.stateByteCount)
            allowance.byteCount -= min(allowance.byteCount, node.stateByteCount)
        } else {
            allowance.isExceeded = true
        }
        for child in node.children.values {
            guard allowance.nodeCount > 0 else {
                allowance.isExceeded = true
                return
            }
            visit(child, &allowance)
        }
    }

    /// Takes the removed nodes of the turn out of the sum.
    private func settleRemoved() {
        for node in turn.removed { measuredByteCount += node.measureState() }
    }

    private func setLevel() {
        let end = isFull ? byteCountMax / 20 * 19 : byteCountMax
        isFull = measuredByteCount >= end
        growthMax = isFull ? 0 : max(step, byteCountMax - measuredByteCount)
    }
}
