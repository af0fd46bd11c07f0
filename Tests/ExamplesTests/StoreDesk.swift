import ReactorCore

/// A store with time that a test lets pass.
final class StoreDesk<R: Reactor> {
    let store: Store<R>
    let clock: StillClock
    private let wakes: AsyncStream<Void>

    init(_ reactor: R) {
        let clock = StillClock()
        let (wakes, wake) = AsyncStream<Void>.makeStream()
        self.clock = clock
        self.wakes = wakes
        store = Store(reactor, clock: TreeClock(clock)) { wake.yield() }
    }

    /// Takes what effects emit until the state is so.
    nonisolated(nonsending) func until(_ condition: (R.State) -> Bool) async {
        var wakes = wakes.makeAsyncIterator()
        while !condition(store.state) {
            _ = await wakes.next(isolation: #isolation)
            store.drain()
        }
    }
}
