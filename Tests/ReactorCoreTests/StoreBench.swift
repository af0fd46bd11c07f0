import Testing

@testable import ReactorCore

/// A store whose time and tasks the test controls.
final class StoreBench<R: Reactor> {
    let clock = HandClock()
    let executor = HandExecutor()
    let store: Store<R>
    private(set) var complaints: [String] = []

    init(_ reactor: R) {
        store = Store(reactor, clock: TreeClock(clock), executor: executor)
        store.onComplaint = { [unowned self] in complaints.append($0) }
    }

    var state: R.State { store.state }

    /// Dispatches actions directly one after another, and runs their immediate consequences.
    func send(_ actions: R.Action...) throws(Rejection) {
        for action in actions { try store.dispatch(action) }
        settle()
    }

    /// Dispatches an action to another node.
    func send(_ action: some WireCodable & Sendable, to path: String) {
        store.core.perform { tree in
            do { try tree.send(action, to: path) } catch { Issue.record(error) }
        }
        settle()
    }

    /// Runs tasks and applies their jobs, until no work is left at this time.
    func settle() {
        repeat { store.drain() } while executor.run() || !store.isDrained
    }

    /// Advances the time, from one due sleeper to the next.
    func advance(by duration: Duration) {
        settle()
        let end = clock.now.advanced(by: duration)
        while let next = clock.nextDeadline, next <= end {
            clock.set(next)
            settle()
        }
        clock.set(end)
        settle()
    }
}

// MARK: - Sagas
extension StoreBench {
    /// Runs a saga up to its first wait.
    func run<Value: Sendable>(
        _ body: @escaping @Sendable (SagaContext<R>) async throws -> Value
    ) -> SagaHandle<Value> {
        let handle = store.runSaga(body)
        settle()
        return handle
    }

    /// The result of an ended saga: its value, `cancelled`, or its error.
    func outcome<Value: Sendable>(of handle: SagaHandle<Value>) -> String {
        let notes = Notes()
        let task = Task(executorPreference: executor) {
            do {
                notes.add("\(try await handle.value)")
            } catch is CancellationError {
                notes.add("cancelled")
            } catch {
                notes.add("\(error)")
            }
        }
        settle()
        task.cancel()
        return notes.all.first ?? "none yet"
    }
}
