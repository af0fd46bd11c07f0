import ReactorBytes
import ReactorCore
import ReactorWire

/// Selected state that connections follow. All connections that follow the same state share one
/// slice.
///
/// It keeps what its followers share: the encoded snapshot, and the last value and patch, to which
/// later ones are compared. ``invariants()`` states the invariants.
final class Slice {
    let id: UInt32
    let node: AnyNode
    let mode: SubscriptionMode
    /// Path inside the node's value; empty in replica mode.
    let field: ArraySlice<WireKey>
    /// The selection of children that it shows, if it is of one.
    let selection: BoundSelection?
    /// The class of callers to which it shows what they may read; nil if it shows everything.
    let view: AccessClass?
    private var selected: SelectedChildren?
    private let followerCell = Cell(ReferenceList<Connection>())
    /// The turn in which the slice was created after changes of its node whose places were not
    /// recorded; 0 for none.
    private(set) var gapTurn: UInt64 = 0
    /// The last value that was sent.
    private var lastValue: [UInt8]?
    /// The last patch that was sent, if that was in the last turn with a change: sending it again
    /// changes nothing.
    private var lastPatch: [UInt8]?
    /// The encoded frames of the current snapshot or value, with their sequence.
    private var cached: Snapshot?
    /// The same, for clients with a state of another epoch.
    private var cachedFresh: Snapshot?
    /// Whether a follower has asked for patches.
    private var hasPatches = false
    /// The parts of the value that may have changed in the current turn; nil if none.
    private(set) var change: Change?

    /// Maximum size of a patch that is kept for comparison, in bytes.
    static let lastPatchBytesMax = 4 << 10

    /// The parts of a slice's value that may have changed in a turn.
    enum Change {
        /// Any part.
        case whole
        /// The values at these paths from the slice's node.
        case places([[WireKey]])
        /// These children of a selection.
        case selected(SelectedChildren.Update)
    }

    /// An encoded state.
    struct Snapshot {
        var sequence: UInt64
        var frames: [UInt8]
    }

    init(
        id: UInt32, node: AnyNode, mode: SubscriptionMode, field: ArraySlice<WireKey>,
        selection: BoundSelection? = nil, view: AccessClass? = nil
    ) {
        self.id = id
        self.node = node
        self.mode = mode
        self.field = field
        self.selection = selection
        self.view = view
    }

    /// Checks the invariants, in debug builds.
    @inline(__always)
    private func invariants() {
        assert(mode == .value || field.isEmpty, "a replica of a field")
        assert(mode == .value || change == nil, "a replica has a changed value")
        assert(mode == .value || lastValue == nil && lastPatch == nil, "a replica has a value")
        assert(view == nil || mode == .value && selection == nil, "a view of no value")
        assert(mode == .replica || cachedFresh == nil, "a value is kept for another epoch")
        assert(
            selection == nil || mode == .value && field.isEmpty, "a selection of no collection")
        guard case .places(let places) = change else { return }
        assert(
            (hasPatches || selection != nil) && !places.isEmpty,
            "changed places are kept for no patch")
    }
}

// MARK: - Followers
extension Slice {
    /// Adds a connection to the followers.
    func addFollower(_ connection: Connection) { followerCell.value.append(connection) }

    /// Removes a connection from the followers; returns whether it was the last.
    func removeFollower(_ connection: Connection) -> Bool {
        followerCell.value.removeAll { $0 === connection }
        return followerCell.value.isEmpty
    }

    /// The connections that follow the slice. *Cost*: copies the list.
    var followers: [Connection] { followerCell.value.objects }

    /// Calls `visit` with each follower; it must not add or remove one.
    @inline(__always)
    func visitFollowers(_ visit: (Connection) -> Void) { followerCell.value.visit(visit) }

    /// Records that a follower wants patches.
    func expectPatches() { hasPatches = true }

    /// Records that `turn` has changes of the node whose places were not recorded.
    func markGap(in turn: UInt64) { gapTurn = turn }
}

// MARK: - Changes
extension Slice {
    /// Adds a place, a path from the slice's node, that may have changed; returns whether it is the
    /// turn's first.
    func addChange(at place: [WireKey]) -> Bool {
        defer { invariants() }
        let isFirst = change == nil
        // A place at or above the slice's field affects the whole value.
        guard hasPatches || selection != nil, view == nil, place.count > field.count else {
            change = .whole
            return isFirst
        }
        switch change {
        case .whole, .selected: break
        case .places(var places):
            change = nil
            places.append(place)
            change = .places(places)
        case nil: change = .places([place])
        }
        return isFirst
    }

    /// Takes what may have changed in the turn, and the patch of the last change. Of a selection,
    /// takes what has changed of the children that it shows.
    func takeChange() -> (change: Change, lastPatch: [UInt8]?)? {
        guard let taken = change else { return nil }
        change = nil
        if selection != nil { return selectionChange(after: taken).map { ($0, nil) } }
        // Only a patch of the next change can repeat it.
        defer { lastPatch = nil }
        return (taken, lastPatch)
    }

    /// Keeps a value as the last that was sent; returns whether it differs from the value before.
    func replaceValue(_ bytes: [UInt8]) -> Bool {
        if lastValue == bytes { return false }
        lastValue = bytes
        invariants()
        return true
    }

    /// The checksum of the last value that was sent; nil if there is none.
    var lastChecksum: UInt64? { lastValue.map { WireChecksum(of: $0.span).value } }

    /// Keeps the current value as the last that was sent if it has this checksum; returns whether it
    /// has.
    func settleValue(as checksum: UInt64) -> Bool {
        var writer = WireWriter()
        let bytes = encodeValue(into: &writer) == .found ? writer.bytes : []
        guard WireChecksum(of: bytes.span).value == checksum else { return false }
        _ = replaceValue(bytes)
        return true
    }

    /// Drops the last value: it is out of date, and may be large.
    func forgetValue() { lastValue = nil }

    /// Keeps a patch as the last that was sent, if it is small.
    func keepPatch(_ body: [UInt8]) {
        if body.count <= Self.lastPatchBytesMax { lastPatch = body }
        invariants()
    }
}

// MARK: - Selections
extension Slice {
    /// Selects the children to show, unless that was done.
    ///
    /// *Owner*: called at the end of a turn: a child that is created and removed in one turn is
    /// never shown.
    func select() {
        guard selected == nil, let selection else { return }
        selected = SelectedChildren(selection, of: node)
    }

    /// Approximate bytes of memory for the selected children.
    var selectedByteCount: Int { selected?.byteCount ?? 0 }

    /// Brings the selection up to date; returns the changes of its value.
    private func selectionChange(after change: Change) -> Change? {
        guard selected != nil, case .places(let places) = change else {
            selected?.reselect(of: node)
            select()
            return .whole
        }
        return selected?.update(places, of: node).map { .selected($0) }
    }

    /// Drops the recorded changes of the node before a whole value: all followers have them.
    func settleChanges() {
        if selection != nil {
            selected?.settle(node)
        } else if field.isEmpty {
            node.settleChanges()
        } else {
            _ = node.drainChanges()
        }
    }

    /// Appends the value of the slice.
    func encodeValue(into writer: inout WireWriter) -> WireReach {
        if let view { return node.encodeValue(at: field, into: &writer, showing: view.reads) }
        guard selection != nil else { return node.encodeValue(at: field, into: &writer) }
        select()
        selected?.encode(of: node, into: &writer)
        return .found
    }
}

// MARK: - Snapshots
extension Slice {
    /// Bytes of the cached snapshots.
    var cachedByteCount: Int { (cached?.frames.count ?? 0) + (cachedFresh?.frames.count ?? 0) }

    /// The frames of the cached snapshot; nil if its node has changed since.
    func currentFrames(isFresh: Bool) -> [UInt8]? {
        guard let kept = isFresh ? cachedFresh : cached, node.sequence <= kept.sequence else {
            return nil
        }
        return kept.frames
    }

    /// Caches a snapshot; returns by how many bytes the cache grew.
    func cache(_ snapshot: Snapshot, isFresh: Bool) -> Int {
        let byteCount = cachedByteCount
        if isFresh { cachedFresh = snapshot } else { cached = snapshot }
        invariants()
        return cachedByteCount - byteCount
    }

    /// Drops the cached snapshots; returns how many bytes they had.
    func dropSnapshots() -> Int {
        defer { (cached, cachedFresh) = (nil, nil) }
        return cachedByteCount
    }
}
