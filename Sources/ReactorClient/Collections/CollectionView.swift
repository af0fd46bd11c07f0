public import Observation
public import ReactorCore
import ReactorThreads

extension MirrorCollection {
    /// The first `count` children in the order that `precedes` gives: a ranking that notifies
    /// observers only when its own content changes.
    ///
    ///     let best = runs.first(10) { $0.score > $1.score }
    ///     for await top in best.values() { show(top) }
    ///
    /// Children that precede each other in neither direction are in the order of their keys.
    public func first(
        _ count: Int,
        by precedes:
            @escaping @Sendable (
                KeyedState<Key, R.State>, KeyedState<Key, R.State>
            ) -> Bool
    ) -> CollectionView<Key, R> {
        view(by: precedes, first: count)
    }

    /// The children that `isIncluded` accepts, in the order that `precedes` gives or else that of
    /// their keys, and at most `count` of them.
    ///
    /// *Cost*: each change costs a few comparisons, and a look at all children where a child leaves
    /// the first `count` and the next in order is not known. The functions run on the client's
    /// thread.
    public func view(
        where isIncluded: @escaping @Sendable (KeyedState<Key, R.State>) -> Bool = { _ in true },
        by precedes: (
            @Sendable (KeyedState<Key, R.State>, KeyedState<Key, R.State>) -> Bool
        )? = nil, first count: Int = .max
    ) -> CollectionView<Key, R> {
        CollectionView(
            self, Ranking(countMax: max(count, 0), isIncluded: isIncluded, precedes: precedes))
    }
}

/// Some children of a collection, in an order of the reader's: see
/// ``MirrorCollection/view(where:by:first:)``.
///
/// *Owner*: any thread.
public final class CollectionView<Key: ChildKey, R: Reactor>: Observable, Sendable {
    /// The collection.
    public let collection: MirrorCollection<Key, R>
    private let state: ViewState<Key, R.State>
    private let watcher: UInt64

    init(_ collection: MirrorCollection<Key, R>, _ ranking: Ranking<Key, R.State>) {
        self.collection = collection
        let state = ViewState(ranking)
        self.state = state
        watcher = collection.notices.watch { [shown = collection.shown] names, isLast in
            state.take(isLast: isLast) { ranking in
                ranking.update(names, from: shown.withLock { $0.states })
            }
        }
        // The collection may have changed, or ended, before the view began to watch it.
        state.take(isLast: collection.notices.changed.isEnded) { ranking in
            ranking.rank(collection.shown.withLock { $0.states })
            return true
        }
    }

    deinit { collection.notices.unwatch(watcher) }

    /// The children in their order. A change of this list wakes observers, and other changes of the
    /// collection do not.
    public var elements: [KeyedState<Key, R.State>] {
        state.changed.access()
        return state.ranking.withLock { $0.elements }
    }

    /// The lists over time: first the current one, then each that differs from the one before. A
    /// slow reader gets the latest.
    public func values() -> Values { Values(view: self) }

    /// The lists of a view over time.
    public struct Values: AsyncSequence, Sendable {
        let view: CollectionView

        public func makeAsyncIterator() -> Iterator { Iterator(view: view) }

        /// One reader's position in the sequence.
        public struct Iterator: AsyncIteratorProtocol {
            let view: CollectionView
            private var seen: UInt64 = 0

            init(view: CollectionView) { self.view = view }

            /// The next list; `nil` at the end, or if the task is cancelled.
            public mutating func next(
                isolation actor: isolated (any Actor)? = #isolation
            ) async -> [KeyedState<Key, R.State>]? {
                let state = view.state
                while !Task.isCancelled {
                    let version = state.changed.version
                    let isEnded = state.changed.isEnded
                    let (count, elements) = state.ranking.withLock { ($0.count, $0.elements) }
                    if count != seen {
                        seen = count
                        return elements
                    }
                    if isEnded { return nil }
                    await state.changed.change(after: version)
                }
                return nil
            }
        }
    }
}

/// The ranking of a view, with the signal of its changes.
private final class ViewState<Key: ChildKey, State: Sendable>: Sendable {
    let ranking: Guarded<Ranking<Key, State>>
    let changed = ChangeSignal()

    init(_ ranking: Ranking<Key, State>) { self.ranking = Guarded(ranking) }

    /// Runs `update`, which returns whether the elements changed, and publishes the change.
    func take(isLast: Bool, _ update: (inout Ranking<Key, State>) -> Bool) {
        let isNews = ranking.withLock { ranking in
            let isNews = update(&ranking)
            if isNews { ranking.countChange() }
            return isNews
        }
        if isNews || isLast { changed.publish(isLast: isLast) }
    }
}
