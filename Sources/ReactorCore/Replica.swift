public import ReactorBytes

/// A state that follows another's mutations, some at a time.
///
/// *Place*: what a mirror shows. Updates are staged as they are read, and take effect together.
/// *Owner*: whoever stages; the state may be read by others under a lock that ``commit()`` holds.
public final class Replica<R: Reactor> {
    @usableFromInline let reactor: R
    @usableFromInline let place: Place<R.State>
    @usableFromInline let staged = Place<[R.Mutation]>([])
    private var snapshot: R.State?
    /// Whether a whole state has taken effect: mutations before it mean nothing.
    public private(set) var hasState = false
    /// What its client asked for and has no answer to; absent before the first of it.
    var overlay: Overlay<R>?
    /// What is shown instead of the state; absent where its reactor shows it as it is.
    let presenter: StatePresenter<R.State>?
    /// Where the state is in the daemon.
    let path: SlicePath
    // because every read of a mirror asks, and nobody who is asked comes back here
    /// Whether what is shown may differ from the state.
    @usableFromInline let mayDiffer: Place<Bool>
    /// Whether actions can be previewed.
    var isPreviewable = true

    /// Starts with the state of `reactor` before its first mutation; the other's is at `path`.
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

    /// Reads a whole state, which replaces all that was staged before.
    public func stage(state bytes: Span<UInt8>) throws(WireError) {
        if !isPreviewable, let names = ComposedValue.childNames(of: reactor) {
            let own = try ComposedValue.own(bytes, without: names, R.State.wireSchema)
            snapshot = try R.State(wireBytes: own)
        } else {
            snapshot = try R.State(wireBytes: bytes)
        }
        staged.value.removeAll(keepingCapacity: true)
    }

    /// Reads a whole state of a type that may be another one: every field of it must be known, and
    /// none may be missing.
    ///
    /// *Throws*: also where the state reads as well, but only with fields left out or defaulted.
    /// *Cost*: encodes the state again.
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

    /// Reads the mutations that stand in `delta` from `offset` to its end.
    public func stage(delta: Span<UInt8>, from offset: Int) throws(WireError) {
        if hasState || snapshot != nil { try R._stage(delta, from: offset, in: self) }
    }

    /// Forgets what was staged.
    public func discard() {
        snapshot = nil
        staged.value.removeAll()
    }

    /// Makes effective what was staged.
    public func commit() {
        overlay?.invalidate()
        if let snapshot {
            place.value = snapshot
            self.snapshot = nil
            // because before the first state nothing can have been sent
            if hasState { overlay?.doubtSent() }
            hasState = true
        }
        R._commit(self)
        presenter?.take(place.value)
    }

    /// What of the state was changed since the last call.
    public func drainChanges() -> StateChanges { R._drain(&place.value) }
}

// because a default body in a protocol extension is specialised in the author's module, where the
// concrete types are known
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
