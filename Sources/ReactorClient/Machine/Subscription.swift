import ReactorBytes
import ReactorCore

/// A slice that a client follows, shared by all sinks that want it in the same mode.
///
/// *Place*: ``Following`` has one for each slice and mode, and is the only part that changes it.
final class Subscription {
    let path: String
    let mode: SubscriptionMode
    private let sinkCell = Cell<[any SliceSink]>([])
    /// The sinks that take its updates.
    var sinks: [any SliceSink] {
        @inline(__always) _read { yield sinkCell.value }
        @inline(__always) _modify { yield &sinkCell.value }
    }
    /// The slice's number on this connection.
    var sliceID: UInt32?
    var state = State.asked
    /// True once its sinks have shown a state: no mirror advances without this slice then.
    var wasLive = false
    /// True if the daemon must send a snapshot: the sinks hold no base for deltas.
    var needsSnapshot = true
    /// Sequence up to which its sinks have every update.
    var floor: UInt64 = 0
    /// Sequence of the last update that arrived.
    var last: UInt64 = 0
    /// Parts of a snapshot or value whose last part has not arrived.
    var parts: [UInt8] = []
    /// Number of unreadable updates since the last readable delta.
    var faultCount = 0

    /// The progress of the subscription on this connection.
    enum State {
        /// Requested, not answered yet.
        case asked
        /// Granted; a snapshot or value is on its way.
        case awaiting
        case current
    }

    init(path: String, mode: SubscriptionMode) {
        self.path = path
        self.mode = mode
    }

    /// The request for the daemon, with mirrors at `revision`.
    func wish(at revision: Revision) -> Subscribe {
        let isKnown = wasLive && !needsSnapshot
        return Subscribe(
            path: path, mode: mode, from: isKnown ? revision : nil,
            patches: mode == .value && sinks.allSatisfy { $0.takesPatches })
    }

    /// Handles a lost connection: drops what is incomplete.
    func suspend() {
        sliceID = nil
        state = .asked
        parts = []
        for sink in sinks { sink.discard() }
    }

    /// Handles a lag: the daemon dropped updates, and a snapshot follows.
    func lag() {
        parts = []
        if state == .current { state = .awaiting }
        for sink in sinks { sink.discard() }
    }

    /// Checks the header of an update.
    func admit(_ kind: FrameKind, _ header: FrameHeader) throws(ClientFault) {
        let isReplica = mode == .replica
        let isExpected =
            kind == .delta
            ? isReplica && state == .current && header.number > floor
            : isReplica == (kind == .snapshot)
        guard isExpected, header.number >= last else {
            needsSnapshot = true
            throw ClientFault("\(kind) \(header.number) of \(path) after \(last)")
        }
        if kind != .delta, !header.flags.contains(.more), state == .awaiting { state = .current }
        last = header.number
    }

    /// Appends a part of a snapshot or value, of at most `byteCountMax` bytes in all; with the last
    /// part, returns the whole.
    func append(
        _ body: Span<UInt8>, isLast: Bool, byteCountMax: Int
    ) throws(ClientFault) -> [UInt8]? {
        guard parts.count + body.count <= byteCountMax else {
            needsSnapshot = true
            throw ClientFault("a value of more than stagedBytesMax \(byteCountMax) at \(path)")
        }
        parts.append(contentsOf: body, 0..<body.count)
        guard isLast else { return nil }
        defer { parts = [] }
        return parts
    }
}

/// Takes the updates of a slice: the part of a mirror or of a watch on the client's thread.
///
/// Updates are staged as they are read, and take effect together with those of all other slices.
protocol SliceSink: AnyObject {
    /// Fingerprint of its types; replica mode needs the daemon's to be equal.
    var fingerprint: UInt64 { get }
    /// True once the last reference to the mirror or watch is released.
    var isReleased: Bool { get }
    /// True if patches bring its value up to date.
    var takesPatches: Bool { get }
    /// Receives the grant of the slice: its number `slice`, and `reactor`, the daemon's name for
    /// the type of the node there.
    func granted(_ slice: UInt32, of reactor: String, epoch: UInt64)
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
    func containsOwn(upTo ordinal: UInt64) {}
    func setMode(_ mode: SubscriptionMode) {}
    func checksum() -> UInt64? { nil }
    func explain(_ error: WireError, at path: String) -> ClientError {
        .incompatible(path: path, error)
    }
}
