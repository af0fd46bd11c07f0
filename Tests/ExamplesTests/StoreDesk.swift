import ReactorCore

/// A store with a clock that the test controls.
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

    /// Applies the emissions of effects until the state meets a condition.
    nonisolated(nonsending) func until(_ condition: (R.State) -> Bool) async {
        var wakes = wakes.makeAsyncIterator()
        while !condition(store.state) {
            _ = await wakes.next(isolation: #isolation)
            store.drain()
        }
    }
}
