import ReactorCore
import ReactorThreads

/// Notifies observers of a collection's changes: as a whole, of its keys, and child by child.
///
/// *Place*: between a ``MirrorCollection``, whose readers register here, and its sink, which
/// publishes. Not generic: every read of a child goes through here.
final class CollectionNotices: Sendable {
    /// Signals every change, and every change of the phase.
    let changed = ChangeSignal()
    /// Signals that children were inserted or removed.
    let keysChanged = ChangeSignal()
    /// The signals of the children that were read, by key; of absent children too.
    private let signals = Guarded<[WireKey: ChangeSignal]>([:])
    /// Callbacks of the views, which look at the changed children.
    private let watchers = Guarded(Watchers())

    private struct Watchers {
        var all: [UInt64: @Sendable (Set<WireKey>, Bool) -> Void] = [:]
        var last: UInt64 = 0
    }

    /// Maximum signals of keys without a child. Beyond it, their readers are woken once without a
    /// change, and the signals are released.
    static let absentMax = 1_024

    /// Records for observation that the caller reads the child at `name`.
    func access(_ name: WireKey) {
        let signal = signals.withLock { signals in
            if let signal = signals[name] { return signal }
            let signal = ChangeSignal()
            signals[name] = signal
            return signal
        }
        signal.access()
    }

    /// Publishes changes that have been made. *Owner*: called with no lock held.
    ///
    /// `isPresent` tells whether there is a child of a key.
    func publish(
        _ names: Set<WireKey>, areKeysChanged: Bool, countOfChildren: Int,
        isPresent: (WireKey) -> Bool
    ) {
        if names.isEmpty { return }
        changed.publish()
        if areKeysChanged { keysChanged.publish() }
        var woken = signals.withLock { signals in
            signals.isEmpty ? [] : names.compactMap { signals[$0] }
        }
        if areKeysChanged { woken += takeAbsent(countOfChildren, isPresent) }
        for signal in woken { signal.publish() }
        notifyWatchers(names, isLast: false)
    }

    /// Publishes a change of the phase without a change of a child.
    func publishPhase() { changed.publish() }

    /// Publishes the end: no change follows.
    func publishEnd() {
        changed.publish(isLast: true)
        keysChanged.publish(isLast: true)
        for signal in signals.withLock({ Array($0.values) }) { signal.publish(isLast: true) }
        notifyWatchers([], isLast: true)
    }

    /// Releases the signals of absent children if there are too many; returns them.
    private func takeAbsent(
        _ countOfChildren: Int, _ isPresent: (WireKey) -> Bool
    ) -> [ChangeSignal] {
        signals.withLock { signals in
            guard signals.count > countOfChildren + Self.absentMax else { return [] }
            let absent = signals.keys.filter { !isPresent($0) }
            return absent.compactMap { signals.removeValue(forKey: $0) }
        }
    }

    /// Number of signals of single children.
    var signalCount: Int { signals.withLock { $0.count } }

    // MARK: Views

    /// Calls `body` after each change, and at the end, until ``unwatch(_:)``.
    func watch(_ body: @escaping @Sendable (Set<WireKey>, _ isLast: Bool) -> Void) -> UInt64 {
        watchers.withLock { watchers in
            watchers.last += 1
            watchers.all[watchers.last] = body
            return watchers.last
        }
    }

    func unwatch(_ id: UInt64) { _ = watchers.withLock { $0.all.removeValue(forKey: id) } }

    private func notifyWatchers(_ names: Set<WireKey>, isLast: Bool) {
        for watcher in watchers.withLock({ Array($0.all.values) }) { watcher(names, isLast) }
    }
}
