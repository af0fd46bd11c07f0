import ReactorCore
import ReactorThreads

/// Notifies observers of a mirror's changes: as a whole, and by field if the state is tracked.
///
/// *Place*: between a mirror, whose readers register here, and its sink, which publishes. Not
/// generic: every read of a field goes through here.
@usableFromInline
final class MirrorNotices: Sendable {
    /// Signals every change that observers receive, and every change of the phase.
    @usableFromInline let changed = ChangeSignal()
    /// One signal for each field that has observers, by its index.
    private let signals: [Int: ChangeSignal]
    /// Fields by the hashes of their key paths.
    private let fields: [Int: [Field]]
    /// Callbacks of the slices, which compare their values after each change.
    private let watchers = Guarded<[UInt64: @Sendable (StateChanges, Bool) -> Void]>([:])
    private let lastWatcher = Guarded<UInt64>(0)

    private struct Field: Sendable {
        var path: any AnyKeyPath & Sendable
        /// The field's signal; none if the state ignores the field.
        var signal: ChangeSignal?
    }

    init<State>(_ tracked: [TrackedField<State>]) {
        var signals: [Int: ChangeSignal] = [:]
        var fields: [Int: [Field]] = [:]
        for field in tracked {
            let signal = field.isIgnored ? nil : signals[field.index] ?? ChangeSignal()
            signals[field.index] = signal
            fields[field.path.hashValue, default: []].append(
                Field(path: field.path, signal: signal))
        }
        self.signals = signals
        self.fields = fields
    }

    /// Records for observation that the caller reads the field at `path`.
    @usableFromInline
    func access(_ path: AnyKeyPath) { signal(for: path)?.access() }

    /// The signal of the field at `path`: that of all changes if the field is not known, none if
    /// the state ignores it.
    func signal(for path: AnyKeyPath) -> ChangeSignal? {
        if fields.isEmpty { return changed }
        guard let field = fields[path.hashValue]?.first(where: { $0.path == path }) else {
            return changed
        }
        return field.signal
    }

    /// Publishes changes that have been made. *Owner*: called with no lock held.
    func publish(_ changes: StateChanges) {
        if case .fields(let fields) = changes {
            guard fields.contains(where: { !$0.isIgnored }) else { return }
            changed.publish()
            for field in fields where !field.isIgnored { signals[field.index]?.publish() }
        } else {
            changed.publish()
            for signal in signals.values { signal.publish() }
        }
        notifyWatchers(changes, isLast: false)
    }

    /// Publishes a change of the phase without a change of the state.
    func publishPhase() { changed.publish() }

    /// Publishes the end: no change follows.
    func publishEnd() {
        changed.publish(isLast: true)
        for signal in signals.values { signal.publish(isLast: true) }
        notifyWatchers(.fields([]), isLast: true)
    }

    /// Calls `body` after each change, and at the end, until ``unwatch(_:)``.
    func watch(_ body: @escaping @Sendable (StateChanges, _ isLast: Bool) -> Void) -> UInt64 {
        let id = lastWatcher.withLock { last in
            last += 1
            return last
        }
        watchers.withLock { $0[id] = body }
        return id
    }

    func unwatch(_ id: UInt64) { _ = watchers.withLock { $0.removeValue(forKey: id) } }

    private func notifyWatchers(_ changes: StateChanges, isLast: Bool) {
        for watcher in watchers.withLock({ Array($0.values) }) { watcher(changes, isLast) }
    }
}
