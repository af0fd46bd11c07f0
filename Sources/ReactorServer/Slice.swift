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
    /// The last value that was sent, to be compared with the next.
    var lastValue: [UInt8]?
    /// The encoded frames of the current snapshot or value, and the sequence they are of.
    fileprivate(set) var cached: Snapshot?
    /// The same, for those who kept something from another history.
    fileprivate(set) var cachedFresh: Snapshot?

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

/// All followed slices, found by node when that changes.
struct SliceTable {
    /// Value slices have ids from here on; a replica slice has its node's number.
    static let valueIDBase: UInt32 = 1 << 31

    private var byID: [UInt32: Slice] = [:]
    private var valuesByNode: [UInt32: [Slice]] = [:]
    private var lastValueID = valueIDBase
    /// Bytes of all cached snapshots.
    private(set) var cachedBytes = 0
    /// Most bytes of encoded snapshots kept.
    let cachedBytesMax: Int

    init(cachedBytesMax: Int) { self.cachedBytesMax = cachedBytesMax }

    var count: Int { byID.count }

    func find(_ id: UInt32) -> Slice? { byID[id] }

    func replica(of node: UInt32) -> Slice? { byID[node] }

    func values(of node: UInt32) -> [Slice] { valuesByNode[node] ?? [] }

    /// The slice of `field` at `node`, made if nobody follows it yet.
    mutating func slice(
        _ node: AnyNode, _ field: ArraySlice<WireKey>, _ mode: SubscriptionMode
    ) -> Slice {
        if mode == .replica {
            if let slice = byID[node.number] { return slice }
            let slice = Slice(id: node.number, node: node, mode: mode, field: [])
            byID[slice.id] = slice
            node.isReplicated = true
            return slice
        }
        if let slice = valuesByNode[node.number]?.first(where: { $0.field == field }) {
            return slice
        }
        lastValueID = lastValueID == .max ? Self.valueIDBase : lastValueID + 1
        let slice = Slice(id: lastValueID, node: node, mode: mode, field: field)
        byID[slice.id] = slice
        valuesByNode[node.number, default: []].append(slice)
        node.isWatched = true
        return slice
    }

    /// Takes `connection` from the slice's followers, and the slice away with its last follower.
    mutating func leave(_ slice: Slice, _ connection: Connection) {
        slice.followers.removeAll { $0 === connection }
        guard slice.followers.isEmpty else { return }
        byID[slice.id] = nil
        forget(slice)
        if slice.mode == .replica {
            slice.node.isReplicated = false
            return
        }
        valuesByNode[slice.node.number]?.removeAll { $0 === slice }
        if valuesByNode[slice.node.number]?.isEmpty ?? false {
            valuesByNode[slice.node.number] = nil
            slice.node.isWatched = false
        }
    }

    /// Keeps a snapshot for the next who asks; the others go where it is too much.
    mutating func keep(_ snapshot: Slice.Snapshot, of slice: Slice, isFresh: Bool) {
        cachedBytes -= (isFresh ? slice.cachedFresh : slice.cached)?.frames.count ?? 0
        if isFresh { slice.cachedFresh = snapshot } else { slice.cached = snapshot }
        cachedBytes += snapshot.frames.count
        guard cachedBytes > cachedBytesMax else { return }
        // because followers of one slice ask in the same turn: the newest is kept, however large
        for other in byID.values where other !== slice { forget(other) }
    }

    private mutating func forget(_ slice: Slice) {
        cachedBytes -= slice.cached?.frames.count ?? 0
        cachedBytes -= slice.cachedFresh?.frames.count ?? 0
        slice.cached = nil
        slice.cachedFresh = nil
    }

    /// The slices of a node that was removed.
    func all(of node: UInt32) -> [Slice] {
        (byID[node].map { [$0] } ?? []) + values(of: node)
    }
}
