public import ReactorBytes

/// A copy of a state that follows the mutations of the original.
///
/// *Place*: inside a mirror. Updates are staged as they are read, and take effect together.
/// *Owner*: confined to the reader of the updates; other threads may read the state under a lock
/// that the caller of ``commit()`` holds.
public final class Replica<R: Reactor> {
    @usableFromInline let reactor: R
    @usableFromInline let place: Place<R.State>
    @usableFromInline let staged = Place<[R.Mutation]>([])
    private var snapshot: R.State?
    /// Whether a whole state has been committed; mutations before it are ignored.
    public private(set) var hasState = false
    // Each delta and each commit read these two; reading `snapshot`, an optional of a generic type,
    // looks up its metadata.
    /// Whether a whole state has been committed or is staged.
    private var takesMutations = false
    /// Whether a whole state is staged.
    private var hasSnapshot = false
    /// The client's unanswered actions; `nil` before the first.
    var overlay: Overlay<R>?
    /// The transformed state; `nil` if the reactor's state is shown unchanged.
    let presenter: StatePresenter<R.State>?
    /// The path of the original in the daemon.
    let path: SlicePath
    // Unchecked, since every read of a mirror reads it; the accesses cannot overlap.
    /// Whether the shown state may differ from ``state``.
    @usableFromInline let mayDiffer: Place<Bool>
    /// Whether actions can be previewed.
    var isPreviewable = true

    /// Starts with the initial state of `reactor`; the original is at `path`.
    public init(_ reactor: R, at path: SlicePath = .root) {
        self.reactor = reactor
        self.path = path
        let state = reactor.initialState
        place = Place(state)
        presenter = StatePresenter(reactor.transform(state: Transform()), state)
        mayDiffer = Place(presenter != nil)
    }

    /// The state, as of the last ``commit()``.
    public var state: R.State {
        @inlinable _read { yield place.value }
    }

    /// Reads a whole state, which replaces all staged updates.
    public func stage(state bytes: Span<UInt8>) throws(WireError) {
        if !isPreviewable, let names = ComposedValue.childNames(of: reactor) {
            let own = try ComposedValue.own(bytes, without: names, R.State.wireSchema)
            snapshot = try R.State(wireBytes: own)
        } else {
            snapshot = try R.State(wireBytes: bytes)
        }
        hasSnapshot = true
        takesMutations = true
        staged.value.removeAll(keepingCapacity: true)
    }

    /// Reads a whole state whose type may differ: its fields must be exactly those of the replica's
    /// type.
    ///
    /// *Throws*: also where the state could be read with unknown fields skipped or missing ones
    /// defaulted. *Cost*: encodes the state again.
    public func stage(exactly bytes: Span<UInt8>) throws(WireError) {
        try stage(state: bytes)
        guard let state = snapshot else { return }
        let own =
            try ComposedValue.childNames(of: reactor).map { names throws(WireError) in
                try ComposedValue.own(bytes, without: names, R.State.wireSchema)
            }
        let told =
            if let own { try WireValue(wireBytes: own) } else { try WireValue(wireBytes: bytes) }
        let read = try WireValue(wireBytes: state.wireBytes())
        guard told == read else {
            discard()
            throw WireError(
                .mismatch(
                    expected: "the fields of \(R.self)", got: told.json().quoted(bytesMax: 256)),
                at: 0)
        }
    }

    /// Reads the mutations in `delta` from `offset` to its end.
    public func stage(delta: Span<UInt8>, from offset: Int) throws(WireError) {
        if takesMutations { try R._stage(delta, from: offset, in: self) }
    }

    /// Drops the staged updates.
    public func discard() {
        snapshot = nil
        hasSnapshot = false
        takesMutations = hasState
        staged.value.removeAll()
    }

    /// Applies the staged updates.
    public func commit() {
        overlay?.invalidate()
        if hasSnapshot { commitSnapshot() }
        R._commit(self)
        presenter?.take(place.value)
    }

    // Not inlined: the caller would look up the metadata for each delta.
    @inline(never)
    private func commitSnapshot() {
        guard let snapshot else { return }
        place.value = snapshot
        self.snapshot = nil
        hasSnapshot = false
        // Before the first state, the client cannot have sent an action.
        if hasState { overlay?.doubtSent() }
        hasState = true
    }

    /// The fields that changed since the last call.
    public func drainChanges() -> StateChanges { R._drain(&place.value) }
}

// A default body in a protocol extension is specialised in the author's module, where the concrete
// types are known.
extension Reactor {
    @inlinable
    public static func _stage(
        _ delta: Span<UInt8>, from offset: Int, in replica: Replica<Self>
    ) throws(WireError) {
        var cursor = WireCursor(offset: offset)
        while cursor.offset < delta.count {
            replica.staged.value.append(try Mutation.decode(delta, &cursor))
        }
    }

    @inlinable
    public static func _commit(_ replica: Replica<Self>) {
        for mutation in replica.staged.value {
            replica.reactor.reduce(state: &replica.place.value, mutation: mutation)
        }
        replica.staged.value.removeAll(keepingCapacity: true)
    }
}
