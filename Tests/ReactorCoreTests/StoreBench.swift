import ReactorCore

/// A store whose time and tasks a test turns by hand.
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

    /// Dispatches an action and runs what follows from it at once.
    func send(_ action: R.Action) throws(Rejection) {
        try store.dispatch(action)
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
}
