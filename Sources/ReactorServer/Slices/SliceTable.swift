import ReactorCore
import ReactorWire

/// All followed slices, by id and by node.
///
/// *Shape*: a slice without followers is removed. ``invariants()`` states the invariants.
struct SliceTable {
    private var byID: [UInt32: Slice] = [:]
    private var valuesByNode: [UInt32: SliceIndex] = [:]
    private var valueIDs = ValueSliceIDs()
    /// Bytes of all cached snapshots.
    private(set) var cachedBytes = 0
    /// Maximum number of bytes of cached snapshots; a lower one applies from the next snapshot on.
    var cachedBytesMax: Int
    /// The slices of selections, by id, with the users that asked for them first.
    private var selections: [UInt32: UInt32] = [:]
    private var selectionsOfUser = UserCounts()

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
        let id = valueIDs.next { byID[$0] != nil }
        let slice = Slice(id: id, node: node, mode: mode, field: field)
        byID[slice.id] = slice
        valuesByNode[node.number, default: SliceIndex()].insert(slice)
        node.isWatched = true
        return slice
    }

    /// The value slice of `field` at `node` for a class of callers; creates it if no connection
    /// follows it.
    mutating func slice(
        _ node: AnyNode, _ field: ArraySlice<WireKey>, for view: AccessClass
    ) -> Slice {
        if let slice = valuesByNode[node.number]?.slice(at: field, for: view) { return slice }
        let id = valueIDs.next { byID[$0] != nil }
        let slice = Slice(id: id, node: node, mode: .value, field: field, view: view)
        byID[slice.id] = slice
        valuesByNode[node.number, default: SliceIndex()].insert(slice)
        node.isWatched = true
        return slice
    }

    /// The slice of a selection of `node`'s children, if a connection follows it.
    func slice(_ node: AnyNode, selecting selection: Selection) -> Slice? {
        valuesByNode[node.number]?.slice(of: selection)
    }

    /// Creates the slice of a selection that no connection follows, for a connection of `uid`.
    mutating func make(_ node: AnyNode, selecting bound: BoundSelection, for uid: UInt32) -> Slice {
        let id = valueIDs.next { byID[$0] != nil }
        let slice = Slice(id: id, node: node, mode: .value, field: [], selection: bound)
        byID[slice.id] = slice
        valuesByNode[node.number, default: SliceIndex()].insert(slice)
        node.isWatched = true
        selections[id] = uid
        selectionsOfUser.count(1, of: uid)
        return slice
    }

    /// Creates the slice that a former process had under `id`, unless another connection follows it;
    /// nil if that id or that slice is another one here. `bound` and `view` are nil for most slices;
    /// `uid` is the user that follows it.
    mutating func inherit(
        _ id: UInt32, _ node: AnyNode, _ field: ArraySlice<WireKey>, _ mode: SubscriptionMode,
        _ bound: BoundSelection?, _ view: AccessClass?, for uid: UInt32
    ) -> Slice? {
        if let slice = byID[id] {
            let isSame =
                slice.node === node && slice.mode == mode && slice.field == field
                && slice.view == view && slice.selection?.selection == bound?.selection
            return isSame ? slice : nil
        }
        if mode == .replica {
            guard id == node.number else { return nil }
            return slice(node, field, mode)
        }
        let index = valuesByNode[node.number]
        let other =
            bound.map { index?.slice(of: $0.selection) }
            ?? view.map { index?.slice(at: field, for: $0) } ?? index?.slice(at: field)
        guard other == nil, ValueSliceIDs.contains(id) else { return nil }
        let slice = Slice(
            id: id, node: node, mode: mode, field: field, selection: bound, view: view)
        byID[id] = slice
        valuesByNode[node.number, default: SliceIndex()].insert(slice)
        node.isWatched = true
        if bound != nil {
            selections[id] = uid
            selectionsOfUser.count(1, of: uid)
        }
        return slice
    }

    /// Number of slices of selections.
    var selectionCount: Int { selections.count }

    /// Number of slices of selections that a user asked for first.
    func selectionCount(of uid: UInt32) -> Int { selectionsOfUser[uid] }

    /// Approximate bytes of memory for the children of all selections. *Cost*: O(selections).
    var selectedByteCount: Int {
        selections.keys.reduce(0) { $0 + (byID[$1]?.selectedByteCount ?? 0) }
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
        if let uid = selections.removeValue(forKey: slice.id) {
            selectionsOfUser.count(-1, of: uid)
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

    /// Drops all cached snapshots.
    mutating func dropSnapshots() {
        for slice in byID.values { forget(slice) }
        invariants()
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
        selections.keys.allSatisfy { byID[$0]?.selection != nil }
            && byID.values.reduce(0) { $0 + $1.cachedByteCount } == cachedBytes
            && byID.allSatisfy { $0.key == $0.value.id }
            && byID.values.count { $0.mode == .value }
                == valuesByNode.values.reduce(0) { $0 + $1.all.count }
    }
}

/// Numbers the value slices; a replica slice has its node's number, which is lower.
///
/// *Shape*: ascending, and again from the lowest after the highest, without those in use.
struct ValueSliceIDs {
    /// Lowest number of a value slice.
    private static let lowest: UInt32 = 1 << 31
    private var last: UInt32

    /// Whether a value slice may have this number.
    static func contains(_ id: UInt32) -> Bool { id >= lowest }

    /// Starts behind `last`.
    init(behind last: UInt32 = lowest) { self.last = last }

    /// The next number that `isUsed` does not name.
    ///
    /// *Cost*: O(1), and one step for each used number in its way after the numbers have started
    /// again.
    mutating func next(_ isUsed: (UInt32) -> Bool) -> UInt32 {
        repeat { last = last == .max ? Self.lowest : last + 1 } while isUsed(last)
        return last
    }
}
