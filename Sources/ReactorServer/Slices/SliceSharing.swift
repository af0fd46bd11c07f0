import ReactorBytes
import ReactorCore
import ReactorWire

/// Sends the followers of slices the changes of a turn: deltas to replicas, values and patches to
/// the others, and snapshots to connections that need one.
///
///     sharing.shareValues()
///     sharing.shareChanges()
///     listed.visit { sharing.payOwed($0) }    // all before the turn's mark
///
/// *Place*: ``Subscriptions`` adds followers to slices; the end of a turn sends what changed.
/// *Shape*: a slice is in the ``SliceTable`` while it has a follower, and is encoded once for all
/// of them. The table is the only state and states its invariants.
final class SliceSharing {
    private let tree: Tree
    private let chronicle: Chronicle
    private let delivery: Delivery
    private let orders: ShellOrders
    /// Maximum bytes of updates that wait for one connection.
    private var queueBytesMax: Int
    private var limits: ServerLimits
    private let table: Cell<SliceTable>
    /// Slices of selections that are new in the turn.
    private let unselected = Cell<[Slice]>([])

    init(
        _ tree: Tree, _ limits: ServerLimits, _ orders: ShellOrders, _ chronicle: Chronicle,
        _ delivery: Delivery
    ) {
        self.tree = tree
        self.chronicle = chronicle
        self.delivery = delivery
        self.orders = orders
        self.limits = limits
        queueBytesMax = limits.queueBytesMax
        table = Cell(SliceTable(cachedBytesMax: limits.snapshotCacheBytesMax))
    }

    /// Applies other limits from here on; what is followed stays.
    func setLimits(_ limits: ServerLimits) {
        self.limits = limits
        queueBytesMax = limits.queueBytesMax
        table.value.cachedBytesMax = limits.snapshotCacheBytesMax
    }

    /// Number of slices that are followed.
    var sliceCount: Int { table.value.count }

    /// Bytes of cached snapshots.
    var cachedByteCount: Int { table.value.cachedBytes }

    // MARK: Followers

    /// The slice of `field` at `node`; creates it if no connection follows it.
    func slice(
        _ node: AnyNode, _ field: ArraySlice<WireKey>, _ mode: SubscriptionMode
    ) -> Slice {
        let wasReplicated = node.isReplicated
        let slice = table.value.slice(node, field, mode)
        // The turn has changes of the node whose places were not recorded.
        if !wasReplicated, node.sequence > chronicle.turnStart { slice.markGap(in: delivery.turn) }
        return slice
    }

    /// The value slice of `field` at `node` for a class of callers from which some of it is hidden.
    func slice(_ node: AnyNode, _ field: ArraySlice<WireKey>, for view: AccessClass) -> Slice {
        table.value.slice(node, field, for: view)
    }

    /// The slice of a selection of `node`'s children, for a connection of `uid`; creates it if no
    /// connection follows it.
    ///
    /// *Throws*: if it would be one too many.
    func slice(
        _ node: AnyNode, selecting bound: BoundSelection, for uid: UInt32
    ) throws(Refusal) -> Slice {
        if let slice = table.value.slice(node, selecting: bound.selection) { return slice }
        func check(_ count: Int, _ max: Int, _ name: String) throws(Refusal) {
            if count >= max { throw Refusal(.quota, "\(name) \(max) reached: end a subscription") }
        }
        try check(table.value.selectionCount, limits.selectionsMax, "selectionsMax")
        try check(
            table.value.selectionCount(of: uid), limits.selectionsPerUIDMax, "selectionsPerUIDMax")
        try check(
            table.value.selectedByteCount, limits.selectionBytesMax, "selectionBytesMax")
        let slice = table.value.make(node, selecting: bound, for: uid)
        unselected.value.append(slice)
        return slice
    }

    /// The slice that a former process had under `id`; nil if it cannot be the same here.
    func inherit(
        _ id: UInt32, _ node: AnyNode, _ field: ArraySlice<WireKey>, _ mode: SubscriptionMode,
        _ bound: BoundSelection?, _ view: AccessClass?, for uid: UInt32
    ) -> Slice? {
        let count = table.value.count
        let slice = table.value.inherit(id, node, field, mode, bound, view, for: uid)
        if let slice, bound != nil, table.value.count > count { unselected.value.append(slice) }
        return slice
    }

    /// Drops the snapshots that are cached for later subscribers.
    func dropSnapshots() { table.value.dropSnapshots() }

    /// Selects the children of the slices that are new in the turn.
    func selectChildren() {
        if unselected.value.isEmpty { return }
        for slice in unselected.value where !slice.node.isGone { slice.select() }
        unselected.value = []
    }

    /// Approximate bytes of memory for the children of all selections.
    var selectedByteCount: Int { table.value.selectedByteCount }

    /// Removes a connection from a slice's followers, and the slice with its last follower.
    func leave(_ id: UInt32, _ connection: Connection) {
        guard let slice = table.value[id] else { return }
        table.value.leave(slice, connection)
    }

    /// The slice of an id, if a connection follows it.
    func slice(_ id: UInt32) -> Slice? { table.value[id] }

    /// The slices of a node that was removed.
    func slices(of node: AnyNode) -> [Slice] { table.value.all(of: node.number) }
}

// MARK: - Replicas
extension SliceSharing {
    /// Gives each follower of a replica slice the ranges of its deltas.
    func shareChanges() {
        let changes = tree.turn.changes
        var index = 0
        while index < changes.count {
            let node = changes[index].node
            let start = changes[index].start
            var end = changes[index].end
            index += 1
            while index < changes.count, changes[index].node === node,
                changes[index].start == end
            {
                end = changes[index].end
                index += 1
            }
            guard let slice = table.value.replica(of: node.number) else { continue }
            slice.visitFollowers { connection in
                guard
                    connection.outlet.value.state == .current
                        || !(connection.subscriptions[slice.id]?.isSnapshotOwed ?? true)
                else { return }
                connection.outlet.value.addDeltas(start..<end)
                delivery.list(connection)
            }
        }
    }
}

// MARK: - Snapshots
extension SliceSharing {
    /// Queues the snapshots that a connection needs, if it has room for them.
    func payOwed(_ connection: Connection) {
        guard canBePaid(connection) else { return }
        var room = connection.outlet.value.snapshotRoom(queueBytesMax: queueBytesMax)
        for (id, subscription) in connection.subscriptions.sorted(by: { $0.key < $1.key })
        where subscription.isSnapshotOwed {
            guard room > 0 else { return }
            guard let slice = table.value[id] else { continue }
            // A shared snapshot has the sequence of the last change, which may be hidden.
            let isShared = connection.access.map { $0.view(of: slice.node) == nil } ?? true
            let frames = snapshot(
                of: slice, isFresh: subscription.debt == .freshSnapshot, isShared: isShared)
            room -= frames.count
            connection.outlet.value.addChunk(frames, isSnapshot: true)
            connection.subscriptions[id]?.pay()
        }
        connection.outlet.value.catchUp()
        delivery.writeFarewell(to: connection)
    }

    /// Whether a connection needs snapshots and has room for one.
    func canBePaid(_ connection: Connection) -> Bool {
        !connection.isClosed
            && connection.outlet.value.canTakeSnapshot(queueBytesMax: queueBytesMax)
    }

    /// The frames of a slice's current state; encoded once per change of its node.
    private func snapshot(of slice: Slice, isFresh: Bool, isShared: Bool) -> [UInt8] {
        let isFresh = isFresh && slice.mode == .replica
        if isShared, let frames = slice.currentFrames(isFresh: isFresh) { return frames }
        orders.stats.snapshotsEncoded &+= 1
        let frames: [UInt8]
        if slice.mode == .value {
            // Every follower has the changes up to now; only later changes count.
            slice.settleChanges()
            let bytes = encodeWhole(slice)
            _ = slice.replaceValue(bytes)
            frames = valueFrames(slice, bytes)
        } else {
            var value = WireWriter()
            slice.node.encodeReplica(into: &value)
            var writer = WireWriter(capacity: value.count + 64)
            value.withBytes { bytes in
                writer.parts(
                    .snapshot, flags: isFresh ? .fresh : [], id: slice.id,
                    number: tree.turn.sequence, body: bytes)
            }
            frames = writer.bytes
        }
        if isShared { cache(frames, of: slice, isFresh: isFresh) }
        return frames
    }

    private func cache(_ frames: [UInt8], of slice: Slice, isFresh: Bool = false) {
        table.value.cache(
            Slice.Snapshot(sequence: tree.turn.sequence, frames: frames), of: slice,
            isFresh: isFresh)
    }
}

// MARK: - Values
extension SliceSharing {
    /// Sends each value slice that may have changed, encoded once for all its followers.
    func shareValues() {
        var changed: [Slice] = []
        for node in tree.turn.touched { collect(changedBy: node, into: &changed) }
        for slice in changed where slice.view == nil { share(slice) }
        // Not in the order of changes, which may be that of changes of hidden nodes.
        for slice in changed.filter({ $0.view != nil }).sorted(by: { $0.id < $1.id }) {
            share(slice)
        }
    }

    /// Collects the slices that contain changes of `node`.
    private func collect(changedBy node: AnyNode, into changed: inout [Slice]) {
        if node.isGone || node.birthSequence > chronicle.turnStart {
            if !node.isGone { node.settleChanges() }
            guard let parent = node.parent, isNews(node, below: parent) else { return }
            collect([[node.name]], of: parent, into: &changed)
        } else {
            collect(node.changedPlaces(), of: node, into: &changed)
        }
    }

    /// Whether a node that the turn created or removed changes its parent's children.
    private func isNews(_ node: AnyNode, below parent: AnyNode) -> Bool {
        if parent.isGone { return false }
        if !node.isGone { return true }
        // A node that was created and removed in one turn was never visible, and its replacement is
        // shown.
        return node.birthSequence <= chronicle.turnStart && parent.children[node.name] == nil
    }

    /// Collects the slices of `node`, and of all nodes above it, that contain the values at
    /// `places`.
    private func collect(_ places: [[WireKey]], of node: AnyNode, into changed: inout [Slice]) {
        var places = places
        var place: AnyNode? = node
        while let node = place {
            if node.isWatched {
                for place in places {
                    for slice in table.value.values(of: node.number, showing: place)
                    where slice.addChange(at: place) {
                        changed.append(slice)
                    }
                }
            }
            for index in places.indices { places[index].insert(node.name, at: 0) }
            place = node.parent
        }
    }

    private func share(_ slice: Slice) {
        guard let (change, lastPatch) = slice.takeChange() else { return }
        let takers = takers(of: slice, change)
        guard !takers.isEmpty else { return }
        var whole: [UInt8] = []
        if takers.contains(where: { !$0.isPatched }) {
            let bytes = encodeWhole(slice)
            guard slice.replaceValue(bytes) else { return }
            whole = valueFrames(slice, bytes)
            if slice.view == nil { cache(whole, of: slice) }
        } else {
            slice.forgetValue()
        }
        var patch: [UInt8] = []
        if takers.contains(where: \.isPatched) {
            patch = patchFrames(slice, change, after: lastPatch)
        }
        for (connection, isPatched) in takers {
            let frames = isPatched ? patch : whole
            if frames.isEmpty { continue }
            // Every slice of a connection has the revision of the same mark: a value waits in the
            // queue like a delta, and is dropped like a delta when the queue is full.
            connection.outlet.value.addChunk(frames, isSnapshot: false)
            delivery.list(connection)
        }
    }

    /// The followers that get a slice's new value, and which of them get it as a patch. A follower
    /// that needs a snapshot gets the value later: a client that does not read a large value must
    /// not cost its encoding in every turn.
    private func takers(
        of slice: Slice, _ change: Slice.Change
    ) -> [(connection: Connection, isPatched: Bool)] {
        var isPatchable = true
        if case .whole = change { isPatchable = false }
        if slice.view != nil { isPatchable = false }
        var takers: [(connection: Connection, isPatched: Bool)] = []
        for connection in slice.followers {
            guard let subscription = connection.subscriptions[slice.id],
                !subscription.isSnapshotOwed
            else { continue }
            takers.append((connection, isPatchable && subscription.takesPatches))
        }
        return takers
    }

    /// The encoding of the slice's value; empty if there is no value.
    private func encodeWhole(_ slice: Slice) -> [UInt8] {
        if slice.node.isGone { return [] }
        var value = WireWriter()
        guard slice.encodeValue(into: &value) == .found else { return [] }
        orders.stats.valuesEncoded &+= 1
        orders.stats.valueBytesEncoded &+= UInt64(value.count)
        return value.bytes
    }

    private func valueFrames(_ slice: Slice, _ bytes: [UInt8]) -> [UInt8] {
        var writer = WireWriter(capacity: bytes.count + 64)
        writer.parts(
            .value, flags: bytes.isEmpty ? .absent : [], id: slice.id,
            number: tree.turn.sequence, body: bytes.span)
        return writer.bytes
    }

    /// The frames that update the slice's value of the last turn; empty if no transmitted value has
    /// changed since the last patch.
    private func patchFrames(
        _ slice: Slice, _ change: Slice.Change, after lastPatch: [UInt8]?
    ) -> [UInt8] {
        let body = patch(slice, change)
        if body.isEmpty { return [] }
        slice.keepPatch(body)
        if body == lastPatch { return [] }
        orders.stats.patchesEncoded &+= 1
        orders.stats.valueBytesEncoded &+= UInt64(body.count)
        var writer = WireWriter(capacity: body.count + 64)
        writer.parts(
            .value, flags: .patch, id: slice.id, number: tree.turn.sequence, body: body.span)
        return writer.bytes
    }

    /// The changes of a slice's value; empty if the value may have changed as a whole.
    private func patch(_ slice: Slice, _ change: Slice.Change) -> [UInt8] {
        if case .selected(let update) = change { return update.patch(of: slice.node) }
        guard case .places(let places) = change else { return [] }
        var patch = PatchWriter()
        for place in places {
            let path = place.dropFirst(slice.field.count)
            patch.append(path) { writer in slice.node.encodeValue(at: place[...], into: &writer) }
        }
        return patch.bytes
    }
}

extension AnyNode {
    /// Paths to the changed parts of the node's state, from the node; the empty path is the whole
    /// state.
    fileprivate func changedPlaces() -> [[WireKey]] {
        guard case .fields(let fields) = drainChanges() else { return [[]] }
        return fields.flatMap(\.places)
    }
}

extension FieldChange {
    /// Paths from the field's owner to the changed parts of the field.
    fileprivate var places: [[WireKey]] {
        switch parts {
        case .all: [[name]]
        case .keys(let keys): keys.map { [name, $0] }
        case .fields(let fields): fields.flatMap(\.places).map { [name] + $0 }
        }
    }
}
