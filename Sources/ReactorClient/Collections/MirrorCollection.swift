public import Observation
public import ReactorCore
import ReactorThreads

/// Copies of all children of a keyed collection in this process, kept up to date by the daemon.
///
///     let runs = try await client.collection(Run.self, at: "/projects/build/runs")
///     for run in runs.states { print(run.key, run.state.progress) }
///     print(runs["7"]?.progress ?? 0)
///
/// One subscription serves all present and future children. Reading is local: a lock and a copy of
/// O(1). A collection moves together with all mirrors of its client, and survives the loss of its
/// connection: until it has caught up, it shows the last known children, and ``phase`` is not
/// `live`.
///
/// *Owner*: any thread. The client follows the collection until the last reference to it is
/// released.
public final class MirrorCollection<Key: ChildKey, R: Reactor>: Observable, Sendable {
    /// Path of the collection.
    public let path: String
    let shown: Guarded<ShownChildren<Key, R.State>>
    let phaseNow: Guarded<ClientPhase>
    let notices = CollectionNotices()
    let shared: SharedState
    /// The port that actions go to; absent in a client without its own thread.
    private let port: ActionPort?
    private let hold: NodeHold?

    init(at path: String, on shared: SharedState, _ port: ActionPort?, _ hold: NodeHold?) {
        self.path = path
        self.shared = shared
        self.port = port
        self.hold = hold
        shown = Guarded(ShownChildren(), by: shared.lock)
        phaseNow = Guarded(.connecting, by: shared.lock)
    }

    deinit { shared.release() }

    /// The present children and their states, at one revision. Every change wakes observers.
    public var states: CollectionStates<Key, R.State> {
        notices.changed.access()
        return shown.withLock { $0.states }
    }

    /// The state of the child under `key`; `nil` if there is none. A change, insertion or removal
    /// of this child wakes observers, and a change of another child does not.
    public subscript(key: Key) -> R.State? {
        let name = WireKey(key.wireKeyText)
        notices.access(name)
        return shown.withLock { $0.states.child(named: name)?.state }
    }

    /// The keys of the present children, in the order of ``CollectionStates``. Insertions and
    /// removals wake observers.
    public var keys: some RandomAccessCollection<Key> {
        notices.keysChanged.access()
        return shown.withLock { $0.states }.lazy.map(\.key)
    }

    /// Number of children. Insertions and removals wake observers.
    public var count: Int {
        notices.keysChanged.access()
        return shown.withLock { $0.states.count }
    }

    /// The revision of the states; the same for all mirrors of a client.
    public var revision: Revision {
        shared.moved.access()
        return shared.revision.withLock { $0 }
    }

    /// The state of the collection's connection, how the daemon's type of the children's states
    /// differs, or the error that ended the collection.
    public var phase: ClientPhase {
        notices.changed.access()
        return phaseNow.withLock { $0 }
    }

    /// Sends an action to the child under `key` and waits for its outcome; the collection shows it
    /// when this returns.
    ///
    /// *Throws*: if there is no such child; the action is not sent then.
    public func dispatch(
        _ key: Key, _ action: R.Action, if expected: Revision? = nil
    ) async throws(ClientError) -> DispatchOutcome<R.Reply> {
        guard let port else {
            return .failed(message: "never sent: submit the action to the LoopClient")
        }
        let place = Self.childPath(of: WireKey(key.wireKeyText), in: path)
        let hold = try await port.ask { client, then in client.hold(place, then: then) }
        let outgoing = OutgoingAction(
            action, to: hold.node, expected.map { DispatchOptions(expected: $0) })
        return await port.dispatch(outgoing, holding: hold).typed(as: R.Reply.self)
    }

    /// The path of a child.
    static func childPath(of name: WireKey, in path: String) -> String {
        let collection = (try? SlicePath(path)) ?? .root
        return collection.appending(name).description
    }
}

/// What a collection shows, and what the readers of its changes have not received.
///
/// *Owner*: the mirrors' lock.
struct ShownChildren<Key: ChildKey, State: Sendable> {
    var states = CollectionStates<Key, State>()
    /// For each reader, the keys that changed since its last element, with whether that element
    /// and those before left the child present.
    private var readers: [UInt64: [WireKey: Bool]] = [:]
    private var lastReader: UInt64 = 0

    /// Records a change of the child at `name` for every reader.
    mutating func record(_ name: WireKey, wasPresent: Bool, isPresent: Bool) {
        for id in readers.keys {
            let isKnown = readers[id]?[name] ?? wasPresent
            // A child that came and went between two elements is of no interest.
            readers[id]?[name] = isKnown || isPresent ? isKnown : nil
        }
    }

    mutating func addReader() -> UInt64 {
        lastReader += 1
        readers[lastReader] = [:]
        return lastReader
    }

    /// Number of readers of the changes.
    var readerCount: Int { readers.count }

    mutating func removeReader(_ id: UInt64) { readers[id] = nil }

    /// Takes the keys that changed since the last call.
    mutating func takeChanges(for id: UInt64) -> [WireKey: Bool] {
        guard let changes = readers[id], !changes.isEmpty else { return [:] }
        readers[id] = [:]
        return changes
    }
}
