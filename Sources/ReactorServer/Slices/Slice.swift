import ReactorCore
import ReactorWire

/// Selected state that connections follow: one for all that follow the same.
final class Slice {
    let id: UInt32
    let node: AnyNode
    let mode: SubscriptionMode
    /// Path inside the node's value; empty in replica mode.
    let field: ArraySlice<WireKey>
    var followers: [Connection] = []
    /// The turn in which it was made behind changes of its node, whose places nobody noted.
    var gapTurn: UInt64 = 0
    /// The last value that was sent, to be compared with the next.
    var lastValue: [UInt8]?
    /// The last patch that was sent, to be compared with the next: made twice, it changes nothing.
    var lastPatch: [UInt8]?
    /// Most bytes of a patch that is kept for that.
    static let lastPatchBytesMax = 4 << 10
    /// The encoded frames of the current snapshot or value, and the sequence they are of.
    var cached: Snapshot?
    /// The same, for those who kept something from another history.
    var cachedFresh: Snapshot?
    /// Whether a follower has ever asked for patches.
    var hasPatches = false
    /// What of the value may have changed in the turn at hand; `nil` if nothing.
    var change: Change?

    /// What of a slice's value may have changed in a turn.
    enum Change {
        /// Anything.
        case whole
        /// What stands at these places, as paths from the slice's node.
        case places([[WireKey]])
    }

    /// An encoded state, for everybody who needs it.
    struct Snapshot {
        var sequence: UInt64
        var frames: [UInt8]
    }

    init(id: UInt32, node: AnyNode, mode: SubscriptionMode, field: ArraySlice<WireKey>) {
        self.id = id
        self.node = node
        self.mode = mode
        self.field = field
    }
}

extension Slice {
    /// Takes note that what stands at `place`, a path from the slice's node, may have changed; says
    /// whether it is the turn's first such note.
    func note(_ place: [WireKey]) -> Bool {
        let isFirst = change == nil
        // because a place at or above the slice is all of it
        guard hasPatches, place.count > field.count else {
            change = .whole
            return isFirst
        }
        switch change {
        case .whole: break
        case .places(var places):
            change = nil
            places.append(place)
            change = .places(places)
        case nil: change = .places([place])
        }
        return isFirst
    }
}
