import Synchronization
import Testing

@testable import ReactorCore

/// A store with sagas, whose time and tasks a test turns by hand.
final class SagaBench<R: Reactor> {
    let clock = HandClock()
    let executor = LongExecutor()
    let store: Store<R>
    private(set) var complaints: [String] = []

    init(_ reactor: R) {
        store = Store(reactor, clock: TreeClock(clock), executor: executor)
        store.onComplaint = { [unowned self] in complaints.append($0) }
    }

    var state: R.State { store.state }

    /// Runs a saga up to its first wait.
    func run<Value: Sendable>(
        _ body: @escaping @Sendable (SagaContext<R>) async throws -> Value
    ) -> SagaHandle<Value> {
        let handle = store.runSaga(body)
        settle()
        return handle
    }

    /// Dispatches actions, one directly after the other, and runs what follows from them at once.
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

    /// Runs tasks and takes what they post, until nothing is left to do at this time.
    func settle() {
        repeat { store.drain() } while executor.run()
    }

    /// Lets time pass, from one sleeper that is due to the next.
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

    /// What became of a saga that has ended: its value, `cancelled`, or its error.
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

/// Runs tasks when a test says so, on the test's own thread; a hundred thousand of them too.
final class LongExecutor: TaskExecutor {
    private let jobs = Mutex<[UnownedJob]>([])

    func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        jobs.withLock { $0.append(job) }
    }

    /// Runs what is ready, and what becomes ready by that; whether there was anything.
    func run() -> Bool {
        var hasRun = false
        while true {
            let ready = jobs.withLock { jobs in
                defer { jobs = [] }
                return jobs
            }
            if ready.isEmpty { return hasRun }
            hasRun = true
            for job in ready { unsafe job.runSynchronously(on: asUnownedTaskExecutor()) }
        }
    }
}

/// What several tasks write down.
final class Notes: Sendable {
    private let texts = Mutex<[String]>([])

    var all: [String] { texts.withLock { $0 } }
    func add(_ text: String) { texts.withLock { $0.append(text) } }
}

/// A counter that several tasks raise.
final class Tick: Sendable {
    private let value = Mutex(0)

    var count: Int { value.withLock { $0 } }
    func up() { value.withLock { $0 += 1 } }
}

/// Keeps what a test gives later.
final class Kept<Value: Sendable>: Sendable {
    private let values = Mutex<[Value]>([])

    var all: [Value] { values.withLock { $0 } }
    func keep(_ value: Value) { values.withLock { $0.append(value) } }
}
