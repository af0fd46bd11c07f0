public import ReactorCore
import ReactorThreads

/// A difference between two revisions of a collection.
public enum CollectionChange<Key: ChildKey, State: Sendable>: Sendable {
    /// There is a new child of this key.
    case inserted(Key, State)
    /// The child's state has changed, or another child has taken its place.
    case changed(Key, State)
    /// There is no child of this key any more.
    case removed(Key)

    /// The key of the child.
    public var key: Key {
        switch self {
        case .inserted(let key, _), .changed(let key, _), .removed(let key): key
        }
    }
}

extension CollectionChange: Equatable where State: Equatable {}

extension MirrorCollection {
    /// The changes of the collection: first every present child as inserted, also if there is none,
    /// then an element for each turn of the daemon that changed children.
    ///
    ///     for await changes in runs.changes {
    ///         for change in changes { table.apply(change) }
    ///     }
    ///
    /// *Shape*: an element names each key at most once, in ascending order of the keys' texts. A
    /// slow reader gets the net difference since its last element: it learns of every key that came
    /// or went, and misses intermediate states. A child that came and went in between is not
    /// reported.
    ///
    /// Ends when the collection fails or its client is closed; ``phase`` says why.
    public var changes: CollectionChanges<Key, R> { CollectionChanges(collection: self) }
}

/// The changes of a collection over time: see ``MirrorCollection/changes``.
public struct CollectionChanges<Key: ChildKey, R: Reactor>: AsyncSequence, Sendable {
    let collection: MirrorCollection<Key, R>

    /// Starts again with the present children.
    public func makeAsyncIterator() -> Iterator { Iterator(collection) }

    /// One reader's position in the sequence.
    public struct Iterator: AsyncIteratorProtocol {
        private let collection: MirrorCollection<Key, R>
        private var reader: CollectionReader<Key, R>?

        init(_ collection: MirrorCollection<Key, R>) { self.collection = collection }

        /// The next changes; `nil` at the end, or if the task is cancelled.
        public mutating func next(
            isolation actor: isolated (any Actor)? = #isolation
        ) async -> [CollectionChange<Key, R.State>]? {
            guard let reader else {
                if Task.isCancelled { return nil }
                let (reader, present) = CollectionReader.start(collection)
                self.reader = reader
                return present
            }
            let signal = collection.notices.changed
            while !Task.isCancelled {
                let version = signal.version
                let isEnded = signal.isEnded
                let changes = reader.take()
                if !changes.isEmpty { return changes }
                if isEnded { return nil }
                await signal.change(after: version)
            }
            return nil
        }
    }
}

/// A reader of a collection's changes, registered until its last reference is released.
private final class CollectionReader<Key: ChildKey, R: Reactor>: Sendable {
    private let collection: MirrorCollection<Key, R>
    private let id: UInt64

    private init(_ collection: MirrorCollection<Key, R>, _ id: UInt64) {
        self.collection = collection
        self.id = id
    }

    deinit { collection.shown.withLock { $0.removeReader(id) } }

    /// Registers a reader; also returns the present children.
    static func start(
        _ collection: MirrorCollection<Key, R>
    ) -> (CollectionReader, [CollectionChange<Key, R.State>]) {
        let (id, states) = collection.shown.withLock { ($0.addReader(), $0.states) }
        return (
            CollectionReader(collection, id), states.map { .inserted($0.key, $0.state) }
        )
    }

    /// The net changes since the last call.
    func take() -> [CollectionChange<Key, R.State>] {
        let (changes, states) = collection.shown.withLock { shown in
            (shown.takeChanges(for: id), shown.states)
        }
        return changes.sorted { $0.key < $1.key }.compactMap { name, wasPresent in
            guard let child = states.child(named: name) else {
                return Key(wireKeyText: name.text).map { .removed($0) }
            }
            return wasPresent
                ? .changed(child.key, child.state) : .inserted(child.key, child.state)
        }
    }
}
