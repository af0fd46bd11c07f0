import ReactorBytes
import ReactorCore
import ReactorWire

// MARK: - What changed
extension Server {
    /// Sends each value slice that may have changed, encoded once for all its followers.
    func shareValues() {
        var changed: [Slice] = []
        for node in tree.turn.touched { note(node, in: &changed) }
        for slice in changed { share(slice) }
    }

    /// Finds the slices that show what changed in `node`.
    private func note(_ node: AnyNode, in changed: inout [Slice]) {
        if node.isGone || node.birthSequence > turnStart {
            if !node.isGone { node.settleChanges() }
            guard let parent = node.parent, isNews(node, below: parent) else { return }
            note([[node.name]], of: parent, in: &changed)
        } else {
            note(node.changedPlaces(), of: node, in: &changed)
        }
    }

    /// Whether a node that came or went in the turn at hand makes a difference below its parent.
    private func isNews(_ node: AnyNode, below parent: AnyNode) -> Bool {
        if parent.isGone { return false }
        if !node.isGone { return true }
        // because who came and went in one turn was never seen, and who came in its place is told
        return node.birthSequence <= turnStart && parent.children[node.name] == nil
    }

    /// Finds the slices of `node`, and of all above it, that show what stands at `places`.
    private func note(_ places: [[WireKey]], of node: AnyNode, in changed: inout [Slice]) {
        var places = places
        var place: AnyNode? = node
        while let node = place {
            if node.isWatched {
                for place in places {
                    for slice in slices.values(of: node.number, showing: place)
                    where slice.note(place) {
                        changed.append(slice)
                    }
                }
            }
            for index in places.indices { places[index].insert(node.name, at: 0) }
            place = node.parent
        }
    }
}

extension AnyNode {
    /// Paths from the node to what of its own state changed; the empty path is all of it.
    fileprivate func changedPlaces() -> [[WireKey]] {
        guard case .fields(let fields) = drainChanges() else { return [[]] }
        return fields.flatMap(\.places)
    }
}

extension FieldChange {
    /// Paths from what the field is in to what of it changed.
    fileprivate var places: [[WireKey]] {
        switch parts {
        case .all: [[name]]
        case .keys(let keys): keys.map { [name, $0] }
        case .fields(let fields): fields.flatMap(\.places).map { [name] + $0 }
        }
    }
}

// MARK: - Sharing out
extension Server {
    private func share(_ slice: Slice) {
        guard let change = slice.change else { return }
        slice.change = nil
        let lastPatch = slice.lastPatch
        // because only what follows upon it at once can be the same again
        slice.lastPatch = nil
        // because whoever is owed a snapshot gets the value of that moment: a stopped reader of a
        // large value must not cost its encoding every turn
        var takers: [(connection: Connection, isPatched: Bool)] = []
        for connection in slice.followers {
            guard let subscription = connection.subscriptions[slice.id],
                !subscription.isSnapshotOwed
            else { continue }
            var isPatched = false
            if case .places = change { isPatched = subscription.takesPatches }
            takers.append((connection, isPatched))
        }
        guard !takers.isEmpty else { return }
        var whole: [UInt8] = []
        if takers.contains(where: { !$0.isPatched }) {
            let bytes = encodeWhole(slice)
            if slice.lastValue == bytes { return }
            slice.lastValue = bytes
            whole = valueFrames(slice, bytes)
            keep(whole, of: slice)
        } else {
            // because it is out of date, and may be large
            slice.lastValue = nil
        }
        var patch: [UInt8] = []
        if case .places(let places) = change, takers.contains(where: \.isPatched) {
            patch = patchFrames(slice, places, after: lastPatch)
        }
        for (connection, isPatched) in takers {
            let frames = isPatched ? patch : whole
            if frames.isEmpty { continue }
            // because every slice of a connection is as of the same mark, a value waits in the
            // queue like a delta, and goes like one where the budget ends
            connection.pending.chunks.append((frames, false))
            note(connection)
        }
    }

    /// The slice's value; empty where nothing stands there.
    private func encodeWhole(_ slice: Slice) -> [UInt8] {
        if slice.node.isGone { return [] }
        var value = WireWriter()
        guard slice.node.encodeValue(at: slice.field, into: &value) == .found else { return [] }
        stats.valuesEncoded &+= 1
        stats.valueBytesEncoded &+= UInt64(value.count)
        return value.bytes
    }

    private func valueFrames(_ slice: Slice, _ bytes: [UInt8]) -> [UInt8] {
        var writer = WireWriter(capacity: bytes.count + 64)
        writer.parts(
            .value, flags: bytes.isEmpty ? .absent : [], id: slice.id,
            number: tree.turn.sequence, body: bytes.span)
        return writer.bytes
    }

    /// The frames that bring the slice's value of the last turn up to date; none if nothing that
    /// travels changed since the patch before.
    private func patchFrames(
        _ slice: Slice, _ places: [[WireKey]], after lastPatch: [UInt8]?
    ) -> [UInt8] {
        var patch = PatchWriter()
        for place in places {
            let path = place.dropFirst(slice.field.count)
            patch.append(path) { writer in slice.node.encodeValue(at: place[...], into: &writer) }
        }
        guard !patch.isEmpty else { return [] }
        let body = patch.bytes
        if body.count <= Slice.lastPatchBytesMax { slice.lastPatch = body }
        if body == lastPatch { return [] }
        stats.patchesEncoded &+= 1
        stats.valueBytesEncoded &+= UInt64(body.count)
        var writer = WireWriter(capacity: body.count + 64)
        writer.parts(
            .value, flags: .patch, id: slice.id, number: tree.turn.sequence, body: body.span)
        return writer.bytes
    }

    private func keep(_ frames: [UInt8], of slice: Slice, isFresh: Bool = false) {
        slices.keep(
            Slice.Snapshot(sequence: tree.turn.sequence, frames: frames), of: slice,
            isFresh: isFresh)
    }

    /// The frames of a slice as it is now; encoded once per change of its node.
    func snapshot(of slice: Slice, isFresh: Bool) -> [UInt8] {
        let isFresh = isFresh && slice.mode == .replica
        if let cached = isFresh ? slice.cachedFresh : slice.cached,
            slice.node.sequence <= cached.sequence
        {
            return cached.frames
        }
        stats.snapshotsEncoded &+= 1
        let frames: [UInt8]
        if slice.mode == .value {
            // because all who have the slice have been sent what changed up to now, and what changes
            // from here on is to be known
            if slice.field.isEmpty {
                slice.node.settleChanges()
            } else {
                _ = slice.node.drainChanges()
            }
            let bytes = encodeWhole(slice)
            slice.lastValue = bytes
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
        keep(frames, of: slice, isFresh: isFresh)
        return frames
    }
}
