import ReactorCore
import ReactorWire

/// All followed slices, by id and by node.
///
/// *Shape*: a slice without followers is removed. ``invariants()`` states the invariants.
struct SliceTable {
    /// The first id of value slices; a replica slice has its node's number.
    static let valueIDBase: UInt32 = 1 << 31

    private var byID: [UInt32: Slice] = [:]
    private var valuesByNode: [UInt32: SliceIndex] = [:]
    private var lastValueID = valueIDBase
    /// Bytes of all cached snapshots.
    private(set) var cachedBytes = 0
    /// Maximum number of bytes of cached snapshots.
    let cachedBytesMax: Int

    init(cachedBytesMax: Int) { self.cachedBytesMax = cachedBytesMax }

    var count: Int { byID.count }

    /// The slice of an id.
    subscript(id: UInt32) -> Slice? { byID[id] }

    func replica(of node: UInt32) -> Slice? { byID[node] }

    /// The value slices at or inside the node.
    func values(of node: UInt32) -> [Slice] { valuesByNode[node]?.all ?? [] }

    /// The value slices of `node` that may change when the value at `place`, a path from the node,
    /// changes.
    ///
    /// *Cost*: O(slices found) for a place of two components or more.
    func values(of node: UInt32, showing place: [WireKey]) -> [Slice] {
        valuesByNode[node]?.slices(showing: place) ?? []
    }

    /// The slice of `field` at `node`; creates it if no connection follows it.
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

    /// Removes a connection from the slice's followers, and the slice with its last follower.
    mutating func leave(_ slice: Slice, _ connection: Connection) {
        defer { invariants() }
        guard slice.removeFollower(connection) else { return }
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

    /// Caches a snapshot for the slice's other followers. Above the limit, drops the snapshots of
    /// all other slices.
    mutating func cache(_ snapshot: Slice.Snapshot, of slice: Slice, isFresh: Bool) {
        defer { invariants() }
        cachedBytes += slice.cache(snapshot, isFresh: isFresh)
        guard cachedBytes > cachedBytesMax else { return }
        // Followers of one slice ask in the same turn: the newest is kept, whatever its size.
        for other in byID.values where other !== slice { forget(other) }
    }

    private mutating func forget(_ slice: Slice) { cachedBytes -= slice.dropSnapshots() }

    /// The slices of a node that was removed.
    func all(of node: UInt32) -> [Slice] {
        (byID[node].map { [$0] } ?? []) + values(of: node)
    }

    /// Checks the invariants of a small table, in debug builds.
    @inline(__always)
    private func invariants() {
        assert(cachedBytes >= 0, "\(cachedBytes) bytes of snapshots are kept")
        assert(byID.count > 32 || sumsHold, "the sums of \(byID.count) slices are wrong")
    }

    private var sumsHold: Bool {
        byID.values.reduce(0) { $0 + $1.cachedByteCount } == cachedBytes
            && byID.allSatisfy { $0.key == $0.value.id }
            && byID.values.count { $0.mode == .value }
                == valuesByNode.values.reduce(0) { $0 + $1.all.count }
    }
}
