public import ReactorCore
import ReactorThreads

/// An object that shows one reactor at a time: assigning another replaces what the last one bound.
///
///     final class Page: ReactorConsumer {
///         let seat = ReactorSeat<Visits>()
///
///         func bind(reactor: Mirror<Visits>, into bag: BindingBag) {
///             bag.follow(reactor.states(\.count)) { print($0) }
///         }
///     }
///
///     page.reactor = visits       // binds
///     page.reactor = nil          // ends what was bound
///
/// *Owner*: one isolation, that of the consumer.
public protocol ReactorConsumer: AnyObject {
    associatedtype R: Reactor

    /// Holds the mirror that is shown, and the work that was bound to it.
    var seat: ReactorSeat<R> { get }

    /// Binds to a reactor; the work in `bag` ends when another reactor, or none, is assigned.
    func bind(reactor: Mirror<R>, into bag: BindingBag)
}

extension ReactorConsumer {
    /// The reactor that is shown. Each assignment ends the work of the last one, and binds again.
    public var reactor: Mirror<R>? {
        get { seat.reactor }
        set {
            guard let bag = seat.take(newValue), let newValue else { return }
            bind(reactor: newValue, into: bag)
        }
    }

    /// Assigns the mirror that `make` returns, once it is connected and has its first state. Until
    /// then nothing is bound. If the program assigns another mirror before, this one is dropped.
    ///
    /// Returns true if it was bound.
    @discardableResult
    public func show(
        isolation: isolated (any Actor)? = #isolation,
        _ make: () async throws(ClientError) -> Mirror<R>
    ) async throws(ClientError) -> Bool {
        let ticket = seat.reserve()
        let made = try await make()
        guard seat.isReserved(ticket) else { return false }
        reactor = made
        return true
    }
}

/// Stores a consumer's reactor. *Owner*: the isolation of the consumer.
public final class ReactorSeat<R: Reactor> {
    private(set) var reactor: Mirror<R>?
    private var bag: BindingBag?
    private var assignments: UInt64 = 0

    /// An empty seat.
    public init() {}

    /// Counts an assignment that will follow; returns its number.
    func reserve() -> UInt64 {
        assignments += 1
        return assignments
    }

    /// True if no other assignment was made since.
    func isReserved(_ ticket: UInt64) -> Bool { assignments == ticket }

    /// Stores a mirror, or none, and returns the bag for its bindings.
    func take(_ new: Mirror<R>?) -> BindingBag? {
        assignments += 1
        bag?.cancel()
        bag = new == nil ? nil : BindingBag()
        reactor = new
        return bag
    }
}

/// Tasks that are cancelled together.
public final class BindingBag: Sendable {
    private let state = Guarded(State())

    private struct State {
        var isCancelled = false
        var tasks: [Task<Void, Never>] = []
    }

    /// An empty bag.
    public init() {}

    deinit { cancel() }

    /// Cancels a task with the bag.
    public func add(_ task: Task<Void, Never>) {
        let isLate = state.withLock { state in
            if !state.isCancelled { state.tasks.append(task) }
            return state.isCancelled
        }
        if isLate { task.cancel() }
    }

    /// Calls `body` with each value of a sequence, until the sequence or the bag ends. A sequence
    /// that fails ends alone.
    ///
    /// Makes the sequence's iterator before this returns: a sequence that starts with its iterator,
    /// such as ``Mirror/pulse(_:)``, misses nothing that the caller then causes.
    public func follow<Source: AsyncSequence & Sendable>(
        _ source: Source, _ body: @escaping @Sendable (Source.Element) async -> Void
    ) {
        let begun = Confined(source.makeAsyncIterator())
        add(
            Task {
                var iterator = begun.open()
                // A sequence may end when it is released, and its iterator need not retain it.
                defer { withExtendedLifetime(source) {} }
                do {
                    while let value = try await iterator.next(isolation: nil) {
                        if Task.isCancelled { return }
                        await body(value)
                    }
                } catch {
                    // A failed sequence ends as a finished sequence does.
                }
            })
    }

    /// Cancels everything in the bag, and everything that is added later.
    public func cancel() {
        let tasks = state.withLock { state in
            state.isCancelled = true
            defer { state.tasks = [] }
            return state.tasks
        }
        for task in tasks { task.cancel() }
    }
}
