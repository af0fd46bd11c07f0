/// The unanswered actions of a client, applied on top of the state that the daemon sent.
///
/// *Place*: a ``Replica`` shows it. A read after a change of the state or of the list decides all
/// actions again on top of the new state; further reads reuse the result.
/// *Owner*: the replica's.
final class Overlay<R: Reactor> {
    private let preview: Preview<R>
    private var entries: [Entry] = []
    private var lastNumber: UInt64 = 0
    /// Whether ``state`` has to be computed again.
    private var isStale = true
    /// The fields that the actions changed when they were decided last.
    private var changes = StateChanges.fields([])
    /// ``changes`` at the last call of ``takeChanges(on:)``.
    private var shownChanges = StateChanges.fields([])
    // Without recorded changes, `takeChanges` has no reason to decide the actions again.
    private let isTracked = !R._trackedFields.isEmpty

    private struct Entry {
        var number: UInt64
        /// The action's number in its session, once it has one.
        var ordinal: UInt64?
        var action: R.Action
        /// Whether the state may already contain the action, and its outcome has not arrived.
        var isDoubtful = false
    }

    init(_ reactor: R, at path: SlicePath) { preview = Preview(reactor, at: path) }

    var isEmpty: Bool { entries.isEmpty }

    /// The state with the actions on top; see ``refresh(on:)``.
    var state: R.State {
        _read { yield preview.state }
    }

    /// Adds an action, and returns the number that removes it; `nil` if it cannot be previewed.
    ///
    /// An action that is rejected now stays in the list: a later state may accept it.
    func append(_ action: R.Action, on base: R.State) -> (number: UInt64, changes: StateChanges)? {
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

    /// Records the ordinal under which an action was sent.
    func send(_ number: UInt64, as ordinal: UInt64) {
        guard let index = entries.lastIndex(where: { $0.number == number }) else { return }
        entries[index].ordinal = ordinal
    }

    /// Removes an action. Returns false if it was removed before.
    func remove(_ number: UInt64) -> Bool {
        guard let index = entries.firstIndex(where: { $0.number == number }) else { return false }
        entries.remove(at: index)
        invalidate()
        return true
    }

    /// Removes the actions with ordinals up to `ordinal`, which the state contains.
    func remove(upTo ordinal: UInt64) {
        entries.removeAll { $0.ordinal.map { $0 <= ordinal } ?? false }
        invalidate()
    }

    // A whole state does not show which actions it contains. A sent action is either in it, and its
    // outcome follows directly, or the daemon has not applied it yet. Shown on top, it could count
    // twice.
    /// Hides the sent actions until they are answered.
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

    // A copy kept here would make the next change of the state copy the whole state.
    /// Discards the computed state; the next read computes it again.
    func invalidate() {
        guard !isStale else { return }
        isStale = true
        preview.clear()
    }

    /// The fields that may look different since the last call because the actions or `base`
    /// changed, besides the changes of `base` itself.
    func takeChanges(on base: R.State) -> StateChanges {
        if isTracked { refresh(on: base) }
        let now: StateChanges =
            if entries.isEmpty { .fields([]) } else if isTracked { changes } else { .all }
        defer { shownChanges = now }
        return shownChanges.union(now)
    }

    /// Decides the actions again on top of `base`, if anything changed since the last time.
    func refresh(on base: R.State) {
        guard isStale else { return }
        isStale = false
        preview.rebase(on: base)
        _ = preview.drainChanges()
        defer { changes = preview.drainChanges() }
        for entry in entries where !entry.isDoubtful {
            // An action that is rejected now may be accepted on top of a later state.
            try? preview.apply(entry.action)
        }
    }
}
