import ReactorBytes
import ReactorCore

/// A slice that a client follows, shared by all sinks that want it in the same mode.
///
/// *Place*: ``Following`` has one for each slice and mode, and is the only part that calls its verbs.
/// ``invariants()`` states what holds between two of them.
final class Subscription {
    let path: String
    let mode: SubscriptionMode
    /// The children of the collection that it shows, if it is a selection of them.
    let selection: Selection?
    // Only Following reaches a subscription, and sinks do not: accesses cannot overlap.
    private let sinkCell = Cell<[any SliceSink]>([])
    private let progressCell = Cell(Progress())

    /// What the connection has brought so far.
    private struct Progress {
        /// The slice's number on this connection.
        var sliceID: UInt32?
        var state = State.asked
        /// True once the sinks have shown a state: no mirror advances without this slice then.
        var wasLive = false
        /// True if the daemon must send a snapshot: the sinks hold no base for deltas.
        var needsSnapshot = true
        /// Sequence up to which the sinks have every update.
        var floor: UInt64 = 0
        /// Sequence of the last update that arrived.
        var last: UInt64 = 0
        /// Parts of a snapshot or value whose last part has not arrived.
        var parts: [UInt8] = []
        /// Number of unreadable updates since the last readable one.
        var faultCount = 0
    }

    /// The progress of the subscription on this connection.
    private enum State {
        /// Requested, not answered yet.
        case asked
        /// Granted; a snapshot or value is on its way.
        case awaiting
        case current
    }

    /// Number of unreadable updates in a row that end the subscription.
    static let faultsMax = 3

    init(path: String, mode: SubscriptionMode, _ selection: Selection? = nil) {
        self.path = path
        self.mode = mode
        self.selection = selection
    }

    private var progress: Progress {
        @inline(__always) _read { yield progressCell.value }
        @inline(__always) _modify { yield &progressCell.value }
    }

    /// The sinks that take its updates.
    var sinks: [any SliceSink] {
        @inline(__always) _read { yield sinkCell.value }
    }
    /// The slice's number on this connection.
    var sliceID: UInt32? { progress.sliceID }
    /// True once its sinks have shown a state: no mirror advances without this slice then.
    var wasLive: Bool { progress.wasLive }
    /// True if the daemon must send a snapshot: the sinks hold no base for deltas.
    var needsSnapshot: Bool { progress.needsSnapshot }
    /// Sequence up to which its sinks have every update.
    var floor: UInt64 { progress.floor }
    /// True once its snapshot or value has arrived on this connection, or continues an earlier one.
    var isCurrent: Bool { progress.state == .current }
    /// True while a slice that was live is not current.
    var isCatchingUp: Bool { wasLive && !isCurrent }
    /// True if it is a replica that has its base, so that the next update may be a delta.
    var takesDeltas: Bool { mode == .replica && isCurrent }
    /// True while a snapshot or value has arrived in part.
    var hasParts: Bool { !progress.parts.isEmpty }
}

// MARK: - Sinks
extension Subscription {
    /// Adds a sink. It has no state yet, so all sinks get a snapshot.
    func join(_ sink: any SliceSink) {
        sinkCell.value.append(sink)
        requireSnapshot()
    }

    /// True while a sink must learn the daemon's types before the slice is requested.
    var needsTypes: Bool { mode == .value && sinks.contains { $0.needsTypes } }

    /// Removes a sink; returns false if it takes other updates than these.
    func leave(_ sink: any SliceSink) -> Bool {
        guard let index = sinks.firstIndex(where: { $0 === sink }) else { return false }
        sinkCell.value.remove(at: index)
        return true
    }

    /// Ends the subscription; returns the sinks that it had.
    func close() -> [any SliceSink] {
        defer { assert(invariants()) }
        leaveConnection()
        defer { sinkCell.value = [] }
        return sinks
    }

    /// The request for the daemon, with mirrors at `revision`.
    func wish(at revision: Revision) -> Subscribe {
        let isKnown = wasLive && !needsSnapshot && sinks.allSatisfy { $0.continuesValues }
        return Subscribe(
            path: path, mode: selection == nil ? mode : .selection,
            from: isKnown ? revision : nil,
            patches: mode == .value && sinks.allSatisfy { $0.takesPatches },
            selection: selection)
    }

    /// Whether it is the slice at `path`, in this mode, of this selection.
    func isSlice(_ path: String, _ mode: SubscriptionMode, _ selection: Selection?) -> Bool {
        self.path == path && self.mode == mode && self.selection == selection
    }

    /// Makes the next request ask for a snapshot.
    func requireSnapshot() {
        progress.needsSnapshot = true
        assert(invariants())
    }

    /// Takes over a sink that shows a state: no mirror advances without this slice.
    func hold() {
        progress.wasLive = true
        assert(invariants())
    }

    /// Stops waiting for the slice, which may never become current.
    func stopWaiting() {
        progress.wasLive = false
        progress.needsSnapshot = true
        assert(invariants())
    }

    /// Records that the sinks show a whole state.
    func becomeLive() {
        progress.wasLive = true
        progress.needsSnapshot = false
        assert(invariants())
    }
}

// MARK: - The connection
extension Subscription {
    /// Handles the daemon's grant: the slice has the number `id` on this connection. Returns true if
    /// mirrors that were live wait for a snapshot.
    ///
    /// `isContinued` says that the daemon may continue from `revision`, which the mirrors show, and
    /// `isLagging` that it has dropped updates since the last mark.
    func grant(
        _ id: UInt32, _ start: Subscribed.Start, isContinued: Bool, isLagging: Bool,
        at revision: Revision
    ) throws(ClientFault) -> Bool {
        guard start == .snapshot || isContinued else {
            throw ClientFault("subscribed without a snapshot to a slice that needs one")
        }
        defer { assert(invariants()) }
        progress.sliceID = id
        progress.parts = []
        switch start {
        case .snapshot:
            progress.state = .awaiting
            progress.floor = 0
            progress.last = 0
            return progress.wasLive
        case .unchanged, .deltas:
            // The deltas that the grant promises are among the updates that the daemon dropped.
            progress.state = isLagging ? .awaiting : .current
            progress.floor = revision.sequence
            progress.last = revision.sequence
            return false
        }
    }

    /// Handles a lost connection: drops what is incomplete.
    func suspend() {
        leaveConnection()
        for sink in sinks {
            sink.discard()
            sink.forgetTypes()
        }
        assert(invariants())
    }

    private func leaveConnection() {
        progress.sliceID = nil
        progress.state = .asked
        progress.parts = []
    }

    /// Handles a lag: the daemon dropped updates, and a snapshot follows.
    func lag() {
        progress.parts = []
        if progress.state == .current { progress.state = .awaiting }
        for sink in sinks { sink.discard() }
        assert(invariants())
    }
}

// MARK: - Updates
extension Subscription {
    /// Checks the sequence of a delta that arrives while it ``takesDeltas``; returns false if it is
    /// not the next one.
    @inline(__always)
    func admitDelta(_ sequence: UInt64) -> Bool {
        guard sequence > progress.floor, sequence >= progress.last else { return false }
        progress.last = sequence
        return true
    }

    /// Checks the header of an update.
    func admit(_ kind: FrameKind, _ header: FrameHeader) throws(ClientFault) {
        defer { assert(invariants()) }
        let isReplica = mode == .replica
        let isExpected =
            kind == .delta
            ? takesDeltas && header.number > progress.floor
            : isReplica == (kind == .snapshot)
        guard isExpected, header.number >= progress.last else {
            progress.needsSnapshot = true
            throw ClientFault("\(kind) \(header.number) of \(path) after \(progress.last)")
        }
        if kind != .delta, !header.flags.contains(.more), progress.state == .awaiting {
            progress.state = .current
        }
        progress.last = header.number
    }

    /// Appends a part of a snapshot or value, of at most `byteCountMax` bytes in all; with the last
    /// part, returns the whole.
    func append(
        _ body: Span<UInt8>, isLast: Bool, byteCountMax: Int
    ) throws(ClientFault) -> [UInt8]? {
        defer { assert(invariants()) }
        guard progress.parts.count + body.count <= byteCountMax else {
            progress.needsSnapshot = true
            throw ClientFault("a value of more than stagedBytesMax \(byteCountMax) at \(path)")
        }
        progress.parts.append(contentsOf: body, 0..<body.count)
        guard isLast else { return nil }
        defer { progress.parts = [] }
        return progress.parts
    }

    /// Records that the sinks get the updates up to `sequence`.
    @inline(__always)
    func reach(_ sequence: UInt64) { progress.floor = sequence }

    /// Records that the sinks could read an update.
    @inline(__always)
    func acceptUpdate() { if progress.faultCount > 0 { progress.faultCount = 0 } }

    /// Records that a sink could not read an update, so that a snapshot is needed. Returns false if
    /// the one after the last fault was unreadable as well, too often to try again.
    func rejectUpdate() -> Bool {
        progress.faultCount += 1
        progress.needsSnapshot = true
        assert(invariants())
        return progress.faultCount < Self.faultsMax
    }

    /// Only a numbered slice has progress, and a slice that was never live needs a snapshot.
    func invariants() -> Bool {
        (sliceID == nil) == (progress.state == .asked)
            && (sliceID != nil || progress.parts.isEmpty) && (wasLive || needsSnapshot)
            && progress.faultCount <= Self.faultsMax
    }
}

/// Takes the updates of a slice: the part of a mirror or of a watch on the client's thread.
///
/// Updates are staged as they are read, and take effect together with those of all other slices.
protocol SliceSink: AnyObject {
    /// True if a value that has not changed since an earlier connection serves it. The daemon may
    /// be of another version, whose value has other fields at the same revision.
    var continuesValues: Bool { get }
    /// True if it must learn the daemon's types before it follows the value: see
    /// ``learn(_:at:)``.
    var needsTypes: Bool { get }
    /// The children of a collection that it shows, if it shows a selection of them.
    var selection: Selection? { get }
    /// True once the last reference to the mirror or watch is released.
    var isReleased: Bool { get }
    /// True if patches bring its value up to date.
    var takesPatches: Bool { get }
    /// Receives the grant of the slice: its number `slice`.
    func granted(_ slice: UInt32, epoch: UInt64)
    /// Whether a replica can follow the slice as granted: the daemon's types are its own.
    func fits(_ subscribed: Subscribed) -> Bool
    /// Compares its types with the daemon's at `path`.
    func learn(_ types: NodeTypes, at path: String) -> TypeVerdict
    /// Forgets the daemon's types, as the connection is lost.
    func forgetTypes()
    /// Whether the last patch could not be read for a reason that another value does not cure: the
    /// sink's types differ from the daemon's.
    var isMismatched: Bool { get }
    /// The error for a value at `path` that cannot be read.
    func explain(_ error: WireError, at path: String) -> ClientError
    /// Reads the slice's whole state or value; `isAbsent` if there is no node at its path.
    func stage(value: Span<UInt8>, isAbsent: Bool, sequence: UInt64) throws(WireError)
    /// Reads a patch of the slice's value since the last update.
    func stage(patch: Span<UInt8>, sequence: UInt64) throws(WireError)
    /// Reads the mutations of one transaction; `offset` is where they start.
    func stage(delta: Span<UInt8>, from offset: Int) throws(WireError)
    /// Learns that the staged updates contain this client's actions up to `ordinal`.
    func containsOwn(upTo ordinal: UInt64)
    /// The checksum of the sink's state, as a snapshot has it; `nil` if the sink holds no such
    /// state.
    func checksum() -> UInt64?
    /// Sets the mode of the updates from here on.
    func setMode(_ mode: SubscriptionMode)
    /// Drops the staged updates.
    func discard()
    /// Makes the staged updates visible. *Owner*: called inside the mirrors' lock.
    func commit(epoch: UInt64)
    /// Notifies observers, outside the lock.
    func announce()
    /// Notifies observers that the connection is live, or no longer.
    func setLive(_ isLive: Bool)
    /// Ends the sink: no update follows.
    func fail(_ error: ClientError)
}

extension SliceSink {
    var selection: Selection? { nil }

    func containsOwn(upTo ordinal: UInt64) {}
    func setMode(_ mode: SubscriptionMode) {}
    func checksum() -> UInt64? { nil }
    var continuesValues: Bool { true }
    var needsTypes: Bool { false }
    func fits(_ subscribed: Subscribed) -> Bool { !subscribed.byValue }
    func learn(_ types: NodeTypes, at path: String) -> TypeVerdict { .value(isChanged: false) }
    func forgetTypes() {}

    /// How the sink follows the node at `path`, whose types the daemon told, or refused to tell.
    func judge(_ types: Result<NodeTypes, ClientError>, at path: String) -> TypeVerdict {
        switch types {
        case .success(let types): learn(types, at: path)
        case .failure(let error): .refused(error)
        }
    }

    var isMismatched: Bool { false }
    func explain(_ error: WireError, at path: String) -> ClientError {
        .incompatible(path: path, error)
    }
}
