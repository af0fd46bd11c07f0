public import ReactorBytes

/// A copy of a state that follows the mutations of the original.
///
/// *Place*: inside a mirror. Updates are staged as they are read, and take effect together.
/// *Owner*: confined to the reader of the updates; other threads may read the state under a lock
/// that the caller of ``commit()`` holds.
@usableFromInline package final class Replica<R: Reactor> {
    @usableFromInline let reactor: R
    @usableFromInline let cell: Cell<R.State>
    @usableFromInline let staged = Cell<[R.Mutation]>([])
    private var snapshot: R.State?
    /// Whether a whole state has been committed; mutations before it are ignored.
    package private(set) var hasState = false
    // Each delta and each commit read these two; reading `snapshot`, an optional of a generic type,
    // looks up its metadata.
    /// Whether a whole state has been committed or is staged.
    private var takesMutations = false
    /// Whether a whole state is staged.
    private var hasSnapshot = false
    /// The client's unanswered actions; `nil` before the first.
    private var overlay: Overlay<R>?
    /// The transformed state; `nil` if the reactor's state is shown unchanged.
    let presenter: StatePresenter<R.State>?
    /// The path of the original in the daemon.
    let path: SlicePath
    // Unchecked, since every read of a mirror reads it; the accesses cannot overlap.
    /// Whether the shown state may differ from ``state``.
    @usableFromInline let mayDiffer: Cell<Bool>
    /// Whether actions can be previewed.
    private var isPreviewable = true

    /// Starts with the initial state of `reactor`; the original is at `path`.
    package init(_ reactor: R, at path: SlicePath = .root) {
        self.reactor = reactor
        self.path = path
        let state = reactor.initialState
        cell = Cell(state)
        presenter = StatePresenter(reactor.transform(state: Transform()), state)
        mayDiffer = Cell(presenter != nil)
    }

    /// The state, as of the last ``commit()``.
    @usableFromInline package var state: R.State {
        @inlinable _read { yield cell.value }
    }

    /// Reads a whole state, which replaces all staged updates.
    package func stage(state bytes: Span<UInt8>) throws(WireError) {
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

    /// The whole state that the next ``commit()`` makes visible, if one is staged.
    package var stagedState: R.State? { snapshot }

    /// Reads the mutations in `delta` from `offset` to its end.
    package func stage(delta: Span<UInt8>, from offset: Int) throws(WireError) {
        if takesMutations { try R._stage(delta, from: offset, into: &staged.value) }
    }

    /// Drops the staged updates.
    package func discard() {
        snapshot = nil
        hasSnapshot = false
        takesMutations = hasState
        staged.value.removeAll()
    }

    /// Applies the staged updates.
    package func commit() {
        overlay?.invalidate()
        if hasSnapshot { commitSnapshot() }
        R._commit(&staged.value, to: &cell.value, by: reactor)
        presenter?.take(cell.value)
    }

    // Not inlined: the caller would look up the metadata for each delta.
    @inline(never)
    private func commitSnapshot() {
        guard let snapshot else { return }
        cell.value = snapshot
        self.snapshot = nil
        hasSnapshot = false
        // Before the first state, the client cannot have sent an action.
        if hasState { overlay?.doubtSent() }
        hasState = true
    }

    /// The fields that changed since the last call.
    package func drainChanges() -> StateChanges { R._drain(&cell.value) }
}

// MARK: - Mutations for sagas
extension Replica {
    /// The mutations that the next ``commit()`` applies, for sagas that follow the replica.
    package var stagedMutations: [R.Mutation] { staged.value }
}

// MARK: - The shown state of a replica
extension Replica {
    /// The state as its client sees it: with the client's unanswered actions on top.
    @usableFromInline package var shown: R.State {
        // A coroutine that yields one of two values costs more than the copy.
        @inlinable get { isOverlaid ? overlaid : cell.value }
    }

    /// Whether the shown state may differ from ``state``: by unanswered actions or by the reactor's
    /// transform.
    @usableFromInline package var isOverlaid: Bool {
        @inlinable get { mayDiffer.value }
    }

    @usableFromInline var overlaid: R.State {
        if let overlay, !overlay.isEmpty {
            overlay.refresh(on: cell.value)
            return presenter?.shown(overlay.state) ?? overlay.state
        }
        return presenter?.state ?? cell.value
    }

    /// Updates ``isOverlaid`` after an action was added or removed.
    private func weighOverlay() {
        mayDiffer.value = presenter != nil || overlay.map { !$0.isEmpty } ?? false
    }

    /// Shows an action before it is answered, and returns the number that settles it; `nil` if it
    /// cannot be previewed.
    package func preview(_ action: R.Action) -> UInt64? { tryOut(action)?.number }

    /// Shows an action before it is answered, and returns the fields that it shows differently.
    package func tryOut(_ action: R.Action) -> (number: UInt64, changes: StateChanges)? {
        guard hasState, isPreviewable else { return nil }
        let overlay = overlay ?? Overlay(reactor, at: path)
        self.overlay = overlay
        defer { weighOverlay() }
        guard let added = overlay.append(action, on: cell.value) else { return nil }
        return presenter == nil ? added : (added.number, .all)
    }

    /// The fields that may look different since the last call, besides the changes of the state
    /// itself: actions were added, removed, or decided on another state.
    package func takeOverlayChanges() -> StateChanges {
        if presenter != nil { return .all }
        return overlay?.takeChanges(on: cell.value) ?? .fields([])
    }

    /// Records the ordinal under which a previewed action was sent.
    package func sent(preview number: UInt64, as ordinal: UInt64) {
        overlay?.send(number, as: ordinal)
    }

    /// Stops showing a previewed action. Returns false if it was settled before.
    package func settle(preview number: UInt64) -> Bool {
        defer { weighOverlay() }
        return overlay?.remove(number) ?? false
    }

    /// Stops showing the previewed actions with an ordinal up to `ordinal`, which the state
    /// contains.
    package func settle(upTo ordinal: UInt64) {
        guard let overlay else { return }
        overlay.remove(upTo: ordinal)
        weighOverlay()
    }

    /// Chooses between a state that follows mutations, which can preview actions, and whole values
    /// that arrive as they are to be shown, with the values of the nodes below composed into them.
    package func setPreviewable(_ isPreviewable: Bool) {
        self.isPreviewable = isPreviewable
        presenter?.takeValues(!isPreviewable)
        presenter?.take(cell.value)
        if !isPreviewable {
            overlay?.removeAll()
            weighOverlay()
        }
    }
}
