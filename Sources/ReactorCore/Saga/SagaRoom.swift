import ReactorThreads

/// What the sagas of one tree, or of one client, have in common: their clock, their tasks, their
/// lock, and how many there are.
///
/// *Owner*: any thread.
package final class SagaRoom: Sendable {
    // because a saga's waits, its ears and its logs change together, one lock guards them all
    let lock = Lock()
    /// The time by which sagas wait.
    package let clock: TreeClock
    /// Starts a saga's task, and says how to cancel it.
    let spawn: @Sendable (@escaping @Sendable () async -> Void) -> @Sendable () -> Void
    private let counters = Guarded(Counters())

    private struct Counters: Sendable {
        var sagas = 0
        var lastID: UInt64 = 0
        var dropped: UInt64 = 0
    }

    /// Makes a room of an environment's clock and tasks.
    package init(_ environment: TreeEnvironment) {
        clock = environment.clock
        spawn = environment.spawn
    }

    /// How many sagas, forks and handlers have begun and not ended.
    package var sagaCount: Int { counters.withLock { $0.sagas } }

    /// What cancelled sagas still put; it was dropped.
    package var droppedCount: UInt64 { counters.withLock { $0.dropped } }

    func noteDropped() { counters.withLock { $0.dropped &+= 1 } }

    /// A number that nothing else here has.
    func newID() -> UInt64 {
        counters.withLock { counters in
            counters.lastID += 1
            return counters.lastID
        }
    }

    /// Counts a saga in; answers false where there are too many.
    func enter() -> Bool {
        counters.withLock { counters in
            counters.sagas += 1
            return counters.sagas <= CoreLimits.sagasMax
        }
    }

    func leave() { counters.withLock { $0.sagas -= 1 } }

    /// Whether there is room for `count` more sagas.
    func hasRoom(for count: Int) -> Bool { sagaCount + count <= CoreLimits.sagasMax }
}
