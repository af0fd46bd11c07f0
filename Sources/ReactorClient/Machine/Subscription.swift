import ReactorBytes
import ReactorCore

/// A slice that a client follows, for all sinks that want it in the same mode.
///
/// *Place*: ``Following`` has one for each slice and mode, and alone changes it.
final class Subscription {
    let path: String
    let mode: SubscriptionMode
    private let sinkCell = Place<[any SliceSink]>([])
    /// What takes its updates.
    var sinks: [any SliceSink] {
        @inline(__always) _read { yield sinkCell.value }
        @inline(__always) _modify { yield &sinkCell.value }
    }
    /// The slice's number on this connection.
    var sliceID: UInt32?
    var state = State.asked
    /// True where its sinks have shown something: no mirror moves without it then.
    var wasLive = false
    /// True where the daemon must send a snapshot: what its sinks hold is no base for deltas.
    var needsSnapshot = true
    /// Sequence up to which its sinks have everything.
    var floor: UInt64 = 0
    /// Sequence of the last update that arrived.
    var last: UInt64 = 0
    /// Parts of a snapshot or value whose end has not arrived.
    var parts: [UInt8] = []
    /// Updates that could not be read since the last delta that could.
    var faultCount = 0

    /// How far it is on this connection.
    enum State {
        /// Not answered yet.
        case asked
        /// A snapshot or value is on its way.
        case awaiting
        case current
    }

    init(path: String, mode: SubscriptionMode) {
        self.path = path
        self.mode = mode
    }

    /// What is asked of the daemon, with mirrors at `revision`.
    func wish(at revision: Revision) -> Subscribe {
        let isKnown = wasLive && !needsSnapshot
        return Subscribe(
            path: path, mode: mode, from: isKnown ? revision : nil,
            patches: mode == .value && sinks.allSatisfy { $0.takesPatches })
    }

    /// The connection is lost: what is not complete is dropped.
    func suspend() {
        sliceID = nil
        state = .asked
        parts = []
        for sink in sinks { sink.discard() }
    }

    /// The daemon dropped updates, and a snapshot follows.
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

    /// Appends a part of a snapshot or value, of at most `byteCountMax` in all; returns the whole with
    /// its last part.
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

/// Takes the updates of a slice: the client's end of a mirror or of a watcher.
///
/// Updates are staged as they are read, and take effect together with those of all other slices.
protocol SliceSink: AnyObject {
    /// Fingerprint of the types that the daemon's must equal for replica mode.
    var fingerprint: UInt64 { get }
    /// True once the last reference to what shows the slice is gone.
    var isReleased: Bool { get }
    /// True where it brings its value up to date by patches.
    var takesPatches: Bool { get }
    /// The daemon granted the slice, by the number `slice`; `reactor` is the type of the node there,
    /// as the daemon names it.
    func granted(_ slice: UInt32, of reactor: String, epoch: UInt64)
    /// The error for a value at `path` that could not be read.
    func explain(_ error: WireError, at path: String) -> ClientError
    /// Reads the slice's whole state or value; `nil` if nothing stands there.
    func stage(value: Span<UInt8>, isAbsent: Bool, sequence: UInt64) throws(WireError)
    /// Reads what changed of the slice's value since the last update.
    func stage(patch: Span<UInt8>, sequence: UInt64) throws(WireError)
    /// Reads the mutations of one transaction; `offset` is where they start.
    func stage(delta: Span<UInt8>, from offset: Int) throws(WireError)
    /// What was staged contains this client's actions up to `ordinal`.
    func containsOwn(upTo ordinal: UInt64)
    /// Checksum of what it holds, as a snapshot would have it; `nil` where it holds no such thing.
    func checksum() -> UInt64?
    /// Receives how the updates come from here on.
    func setMode(_ mode: SubscriptionMode)
    /// Forgets what was staged.
    func discard()
    /// Makes what was staged effective. *Owner*: called inside the mirrors' lock.
    func commit(epoch: UInt64)
    /// Tells observers, outside the lock.
    func announce()
    /// Tells observers if the connection stands.
    func setLive(_ isLive: Bool)
    /// There will be no more updates.
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
