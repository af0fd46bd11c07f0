public import ReactorBytes

/// What a client asked for and the daemon has not answered, shown on top of what the daemon said.
///
/// *Place*: a ``Replica`` shows it. The actions are decided again on top of each new state, when
/// somebody looks, and once for all that came since somebody looked last.
///
/// *Owner*: the replica's.
final class Overlay<R: Reactor> {
    private let preview: Preview<R>
    private var entries: [Entry] = []
    private var lastNumber: UInt64 = 0
    /// Whether ``state`` is not that of the actions on top of the replica's.
    private var isStale = true
    /// What of the replica's state the actions on top changed when they were decided last.
    private var changes = StateChanges.fields([])
    /// The same when ``takeChanges(on:)`` was called last.
    private var shownChanges = StateChanges.fields([])
    // A state that does not record its changes is never decided again for their sake.
    private let isTracked = !R._trackedFields.isEmpty

    private struct Entry {
        var number: UInt64
        /// The action's number in its session, once it has one.
        var ordinal: UInt64?
        var action: R.Action
        /// Whether the state may contain it, and nobody has said yet.
        var isDoubtful = false
    }

    init(_ reactor: R, at path: SlicePath) { preview = Preview(reactor, at: path) }

    var isEmpty: Bool { entries.isEmpty }

    /// The state with the actions on top; see ``refresh(on:)``.
    var state: R.State {
        _read { yield preview.state }
    }

    /// Puts an action on top, and gives the number by which it is taken away; none where it cannot
    /// be previewed.
    ///
    /// One that is rejected for now stays: it may be applied on top of what comes.
    func add(_ action: R.Action, on base: R.State) -> (number: UInt64, changes: StateChanges)? {
        guard entries.count < CoreLimits.previewsMax else { return nil }
        refresh(on: base)
        do throws(Rejection) {
            try preview.apply(action)
        } catch {
            if error.code == Rejection.previewCode { return nil }
        }
        let added = preview.drainChanges()
        changes = changes.union(added)
        shownChanges = shownChanges.union(added)
        lastNumber += 1
        entries.append(Entry(number: lastNumber, ordinal: nil, action: action))
        return (lastNumber, added)
    }

    /// Says by which ordinal an action was sent.
    func send(_ number: UInt64, as ordinal: UInt64) {
        guard let index = entries.lastIndex(where: { $0.number == number }) else { return }
        entries[index].ordinal = ordinal
    }

    /// Takes an action away; answers false where it was before.
    func remove(_ number: UInt64) -> Bool {
        guard let index = entries.firstIndex(where: { $0.number == number }) else { return false }
        entries.remove(at: index)
        invalidate()
        return true
    }

    /// Takes away the actions with ordinals up to `ordinal`: the state contains what they did.
    func remove(upTo ordinal: UInt64) {
        entries.removeAll { $0.ordinal.map { $0 <= ordinal } ?? false }
        invalidate()
    }

    // because a whole state does not say whose actions it contains: what was sent is either in it,
    // with its outcome right behind, or will come with one, and shown twice it would be wrong
    /// Shows the actions that were sent no more, until they are answered.
    func doubtSent() {
        for index in entries.indices where entries[index].ordinal != nil {
            entries[index].isDoubtful = true
        }
        invalidate()
    }

    func removeAll() {
        entries.removeAll()
        invalidate()
    }

    // because a copy that is kept would make the next change of the state copy it whole
    /// Forgets what is shown; it is made anew when somebody looks.
    func invalidate() {
        guard !isStale else { return }
        isStale = true
        preview.clear()
    }

    /// What may be shown differently since the last call, once the actions on top have changed, or
    /// `base` has; besides what changed in `base` itself.
    func takeChanges(on base: R.State) -> StateChanges {
        if isTracked { refresh(on: base) }
        let now: StateChanges =
            if entries.isEmpty { .fields([]) } else if isTracked { changes } else { .all }
        defer { shownChanges = now }
        return shownChanges.union(now)
    }

    /// Decides the actions again on top of `base`, if something changed since.
    func refresh(on base: R.State) {
        guard isStale else { return }
        isStale = false
        preview.rebase(on: base)
        _ = preview.drainChanges()
        defer { changes = preview.drainChanges() }
        for entry in entries where !entry.isDoubtful {
            // because what is rejected now may be applied on top of what comes
            try? preview.apply(entry.action)
        }
    }
}

// MARK: - What a replica shows
extension Replica {
    /// The state as its client sees it: with its own actions that have no answer yet on top.
    public var shown: R.State {
        // because a coroutine that yields one or the other costs more than the copy
        @inlinable get { isOverlaid ? overlaid : place.value }
    }

    /// Whether what is shown may differ from the state: by actions without an answer on top, or by
    /// the reactor's transform.
    public var isOverlaid: Bool {
        @inlinable get { mayDiffer.value }
    }

    @usableFromInline var overlaid: R.State {
        if let overlay, !overlay.isEmpty {
            overlay.refresh(on: place.value)
            return presenter?.shown(overlay.state) ?? overlay.state
        }
        return presenter?.state ?? place.value
    }

    /// Looks whether something is on top of the state, after one came or went.
    private func weighOverlay() {
        mayDiffer.value = presenter != nil || overlay.map { !$0.isEmpty } ?? false
    }

    /// Shows an action before it is answered, and gives the number by which it is settled; none
    /// where it cannot be previewed.
    public func preview(_ action: R.Action) -> UInt64? { tryOut(action)?.number }

    /// Shows an action before it is answered, and says what of the state is shown differently.
    package func tryOut(_ action: R.Action) -> (number: UInt64, changes: StateChanges)? {
        guard hasState, isPreviewable else { return nil }
        let overlay = overlay ?? Overlay(reactor, at: path)
        self.overlay = overlay
        defer { weighOverlay() }
        guard let added = overlay.add(action, on: place.value) else { return nil }
        return presenter == nil ? added : (added.number, .all)
    }

    /// What may be shown differently since the last call, besides what changed in the state itself:
    /// where actions on top came, went, or are decided on another state.
    package func takeOverlayChanges() -> StateChanges {
        if presenter != nil { return .all }
        return overlay?.takeChanges(on: place.value) ?? .fields([])
    }

    /// Says by which ordinal a previewed action was sent.
    public func sent(preview number: UInt64, as ordinal: UInt64) {
        overlay?.send(number, as: ordinal)
    }

    /// Shows a previewed action no more; answers false where it was settled before.
    public func settle(preview number: UInt64) -> Bool {
        defer { weighOverlay() }
        return overlay?.remove(number) ?? false
    }

    /// Shows no previewed action with an ordinal up to `ordinal` any more: the state has them.
    public func settle(upTo ordinal: UInt64) {
        guard let overlay else { return }
        overlay.remove(upTo: ordinal)
        weighOverlay()
    }

    /// Says whether the state follows mutations, as a preview does, or whole states come as they are
    /// to be shown, with those of the nodes below composed into them.
    public func setPreviewable(_ isPreviewable: Bool) {
        self.isPreviewable = isPreviewable
        presenter?.takesValues = !isPreviewable
        presenter?.take(place.value)
        if !isPreviewable {
            overlay?.removeAll()
            weighOverlay()
        }
    }
}
