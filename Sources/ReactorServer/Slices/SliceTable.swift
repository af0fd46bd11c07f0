import ReactorCore
import ReactorWire

/// All followed slices, found by node when that changes.
struct SliceTable {
    /// Value slices have ids from here on; a replica slice has its node's number.
    static let valueIDBase: UInt32 = 1 << 31

    private var byID: [UInt32: Slice] = [:]
    private var valuesByNode: [UInt32: SliceIndex] = [:]
    private var lastValueID = valueIDBase
    /// Bytes of all cached snapshots.
    private(set) var cachedBytes = 0
    /// Most bytes of encoded snapshots kept.
    let cachedBytesMax: Int

    init(cachedBytesMax: Int) { self.cachedBytesMax = cachedBytesMax }

    var count: Int { byID.count }

    func find(_ id: UInt32) -> Slice? { byID[id] }

    func replica(of node: UInt32) -> Slice? { byID[node] }

    /// The value slices at or inside the node.
    func values(of node: UInt32) -> [Slice] { valuesByNode[node]?.all ?? [] }

    /// The value slices of `node` that may show something else when what stands at `place`, a path
    /// from the node, changed.
    ///
    /// *Cost*: O(1) and the slices found, for a place of two components or more.
    func values(of node: UInt32, showing place: [WireKey]) -> [Slice] {
        valuesByNode[node]?.slices(showing: place) ?? []
    }

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
        if let slice = valuesByNode[node.number]?.slice(at: field) { return slice }
        lastValueID = lastValueID == .max ? Self.valueIDBase : lastValueID + 1
        let slice = Slice(id: lastValueID, node: node, mode: mode, field: field)
        byID[slice.id] = slice
        valuesByNode[node.number, default: SliceIndex()].insert(slice)
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
        valuesByNode[slice.node.number]?.remove(slice)
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
