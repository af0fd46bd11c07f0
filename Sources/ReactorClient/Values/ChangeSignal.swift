public import Observation
import ReactorThreads

/// Notifies observers and waiting tasks of a change; they read the new value themselves.
///
/// *Place*: one per mirror. Observation through a generic type costs forty times as much, so this
/// one is not generic.
@usableFromInline package final class ChangeSignal: Observable, Sendable {
    private let registrar = ObservationRegistrar()
    private let waiters = Guarded(Waiters())
    // Making a key path at each access costs more than the rest of the access.
    private static let keyPath: any KeyPath<ChangeSignal, UInt64> & Sendable = \.version

    private struct Waiters {
        var version: UInt64 = 0
        var isEnded = false
        var waiting: [UInt64: CheckedContinuation<Void, Never>] = [:]
        var lastID: UInt64 = 0
    }

    init() {}

    /// Number of changes.
    var version: UInt64 { waiters.withLock { $0.version } }

    /// True once no change can follow.
    var isEnded: Bool { waiters.withLock { $0.isEnded } }

    /// Records for observation that the caller reads the signal's value.
    @usableFromInline
    func access() {
        if ReadLog.isKept { ReadLog.current?.record(self) }
        registrar.access(self, keyPath: Self.keyPath)
    }

    /// Wakes observers and waiting tasks after a change. *Owner*: called with no lock held.
    func publish(isLast: Bool = false) {
        let waiting = waiters.withLock { waiters in
            waiters.version &+= 1
            if isLast { waiters.isEnded = true }
            let all = waiters.waiting
            if !all.isEmpty { waiters.waiting = [:] }
            return all
        }
        for continuation in waiting.values { continuation.resume() }
        // The new value is in place already: a change inside this call would reach observers too
        // early.
        registrar.withMutation(of: self, keyPath: Self.keyPath) {}
    }

    /// Waits for a change after `version`; returns at once if there was one, if none can follow, or
    /// if the task is cancelled.
    func change(after version: UInt64) async {
        let id = waiters.withLock { waiters in
            waiters.lastID += 1
            return waiters.lastID
        }
        await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let mustWait = waiters.withLock { waiters in
                    guard waiters.version == version, !waiters.isEnded, !Task.isCancelled else {
                        return false
                    }
                    waiters.waiting[id] = continuation
                    return true
                }
                if !mustWait { continuation.resume() }
            }
        } onCancel: {
            waiters.withLock { $0.waiting.removeValue(forKey: id) }?.resume()
        }
    }
}
