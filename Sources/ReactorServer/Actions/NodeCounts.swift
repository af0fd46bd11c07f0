/// Counts actions by node, for the nodes with the most.
///
///     counts.add(16, to: node.number)
///
/// *Place*: the ``Dispatcher`` adds the actions of a run that went to one node. *Shape*: a node has
/// one of ``slotCount`` slots, by its number. Nodes that share a slot compete for it: the one with
/// the majority of the actions wins, and the others are counted together in ``others``. So the
/// counts of a tree with fewer nodes are exact. *Cost*: a few instructions, no allocation.
struct NodeCounts {
    /// Number of slots, a power of two.
    static let slotCount = 1_024

    private struct Slot {
        /// The node that has the slot.
        var number: UInt32 = 0
        /// Actions of that node since it has the slot.
        var count: UInt64 = 0
        /// By how many actions the node is ahead of those that share the slot.
        var lead: UInt64 = 0
    }

    private var slots = [Slot](repeating: Slot(), count: slotCount)
    /// Actions of nodes that lost their slots, or never had one.
    private(set) var others: UInt64 = 0
    /// The node of the last actions.
    private(set) var lastNumber: UInt32 = 0
    /// Number of calls of ``add(_:to:)``.
    private(set) var spanCount: UInt64 = 0

    /// Counts actions of the node with this number.
    @inline(__always)
    mutating func add(_ count: UInt64, to number: UInt32) {
        lastNumber = number
        spanCount &+= 1
        let index = Int(number) & (Self.slotCount - 1)
        if slots[index].number == number || slots[index].lead == 0 {
            claim(index, number, count)
        } else {
            compete(at: index, number, count)
        }
    }

    private mutating func claim(_ index: Int, _ number: UInt32, _ count: UInt64) {
        if slots[index].number != number {
            others &+= slots[index].count
            slots[index] = Slot(number: number)
        }
        slots[index].count &+= count
        slots[index].lead &+= count
    }

    private mutating func compete(at index: Int, _ number: UInt32, _ count: UInt64) {
        if slots[index].lead >= count {
            slots[index].lead -= count
            others &+= count
        } else {
            others &+= slots[index].count
            slots[index] = Slot(number: number, count: count, lead: count - slots[index].lead)
        }
    }

    /// The nodes with a slot and actions, with their numbers of actions, in no order.
    var all: [(number: UInt32, count: UInt64)] {
        slots.filter { $0.count > 0 }.map { ($0.number, $0.count) }
    }
}

/// How many actions a server has received, and how often they went to another node.
package struct ActionProgress: Equatable, Sendable {
    /// Actions received for the first time.
    package var actionCount: UInt64
    /// Number of spans of consecutive actions to one node.
    package var spanCount: UInt64

    /// Makes the progress with these numbers.
    package init(actionCount: UInt64, spanCount: UInt64) {
        self.actionCount = actionCount
        self.spanCount = spanCount
    }
}
