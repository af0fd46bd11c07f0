import ReactorBytes
import ReactorCore

/// A slice that a client follows, for all who want it in the same mode.
final class Subscription {
    let path: String
    let mode: SubscriptionMode
    private let sinkPlace = Place<[any SliceSink]>([])
    /// Who takes its updates.
    var sinks: [any SliceSink] {
        @inline(__always) _read { yield sinkPlace.value }
        @inline(__always) _modify { yield &sinkPlace.value }
    }
    /// The slice's number on the connection at hand.
    var sliceID: UInt32?
    var state = State.asked
    /// Whether its sinks have shown something: then nothing moves without it.
    var wasLive = false
    /// Whether what its sinks hold is of no use to the daemon: it must send a snapshot.
    var needsSnapshot = true
    /// Sequence up to which its sinks have everything.
    var floor: UInt64 = 0
    /// Sequence of the last update that arrived.
    var last: UInt64 = 0
    /// Parts of a snapshot or value whose end has not arrived.
    var parts: [UInt8] = []
    /// Updates that could not be read since the last delta that could.
    var faultCount = 0

    /// How far it is on the connection at hand.
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
}

/// Who takes the updates of a slice: a mirror, a watcher.
///
/// Updates are staged as they are read, and take effect together with those of all other slices.
protocol SliceSink: AnyObject {
    /// Fingerprint of the types that the daemon's must equal for replica mode.
    var fingerprint: UInt64 { get }
    /// Whether nobody holds what shows the slice any more.
    var isReleased: Bool { get }
    /// Whether it brings its value up to date by patches.
    var takesPatches: Bool { get }
    /// The daemon granted the slice, by the number `slice`; `reactor` is the type of the node there,
    /// as the daemon names it.
    func granted(_ slice: UInt32, of reactor: String, epoch: UInt64)
    /// What it means that a value at `path` could not be read.
    func explain(_ error: WireError, at path: String) -> ClientError
    /// Reads the slice's whole state or value; `nil` if nothing stands there.
    func stage(value: Span<UInt8>, isAbsent: Bool, sequence: UInt64) throws(WireError)
    /// Reads what changed of the slice's value since the last update.
    func stage(patch: Span<UInt8>, sequence: UInt64) throws(WireError)
    /// Reads the mutations of one transaction; `offset` is where they start.
    func stage(delta: Span<UInt8>, from offset: Int) throws(WireError)
    /// What was staged contains this client's actions up to `ordinal`.
    func noteOwn(upTo ordinal: UInt64)
    /// Checksum of what it holds, as a snapshot would have it; `nil` where it holds no such thing.
    func checksum() -> UInt64?
    /// Says how the updates come from here on.
    func noteMode(_ mode: SubscriptionMode)
    /// Forgets what was staged.
    func discard()
    /// Makes what was staged effective. *Owner*: inside the board's lock.
    func commit(epoch: UInt64)
    /// Tells observers, outside the lock.
    func announce()
    /// Tells whether the connection stands.
    func setLive(_ isLive: Bool)
    /// There will be no more updates.
    func fail(_ error: ClientError)
}

extension SliceSink {
    func noteOwn(upTo ordinal: UInt64) {}
    func noteMode(_ mode: SubscriptionMode) {}
    func checksum() -> UInt64? { nil }
    func explain(_ error: WireError, at path: String) -> ClientError {
        .incompatible(path: path, error)
    }
}
