public import Observation
import ReactorThreads

/// Tells observers and waiting tasks that something changed; what, they read for themselves.
///
/// *Place*: one per mirror. Observing through a generic type costs forty times as much, so that this
/// one is not generic.
public final class ChangeSignal: Observable, Sendable {
    private let registrar = ObservationRegistrar()
    private let waiters = Guarded(Waiters())
    // A key path that is made for each access costs more than all the rest.
    private static let keyPath: any KeyPath<ChangeSignal, UInt64> & Sendable = \.version

    private struct Waiters {
        var version: UInt64 = 0
        var isEnded = false
        var waiting: [UInt64: CheckedContinuation<Void, Never>] = [:]
        var lastID: UInt64 = 0
    }

    init() {}

    /// Counts the changes.
    var version: UInt64 { waiters.withLock { $0.version } }

    /// True once there will be no more changes.
    var isEnded: Bool { waiters.withLock { $0.isEnded } }

    /// Notes that the caller reads what this signal is about.
    @usableFromInline
    func access() {
        if ReadLog.isKept { ReadLog.current?.record(self) }
        registrar.access(self, keyPath: Self.keyPath)
    }

    /// Wakes observers and waiting tasks: the change has been made. *Owner*: called with no lock held.
    func publish(isLast: Bool = false) {
        let waiting = waiters.withLock { waiters in
            waiters.version &+= 1
            if isLast { waiters.isEnded = true }
            let all = waiters.waiting
            if !all.isEmpty { waiters.waiting = [:] }
            return all
        }
        for continuation in waiting.values { continuation.resume() }
        // The new value is in place already: a change made inside would reach observers too early.
        registrar.withMutation(of: self, keyPath: Self.keyPath) {}
    }

    /// Waits for a change after `version`; returns at once if there was one, if there will be none,
    /// or if the task is cancelled.
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
