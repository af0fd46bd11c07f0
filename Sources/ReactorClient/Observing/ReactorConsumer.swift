public import ReactorCore
import ReactorThreads

/// Something that shows a reactor, one at a time: assigning another binds that instead.
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

    /// Holds the reactor that is shown, and what was bound to it.
    var seat: ReactorSeat<R> { get }

    /// Binds to a reactor; what is put into `bag` ends when another is assigned, or none.
    func bind(reactor: Mirror<R>, into bag: BindingBag)
}

extension ReactorConsumer {
    /// The reactor that is shown. Each assignment ends what the last one bound, and binds again.
    public var reactor: Mirror<R>? {
        get { seat.reactor }
        set {
            guard let bag = seat.take(newValue), let newValue else { return }
            bind(reactor: newValue, into: bag)
        }
    }

    /// Assigns the reactor that `make` gives, once it is there: connected, with its first state.
    /// Until then nothing is bound, and if another is assigned before, this one never is.
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

/// Where a consumer's reactor sits. *Owner*: the consumer's.
public final class ReactorSeat<R: Reactor> {
    private(set) var reactor: Mirror<R>?
    private var bag: BindingBag?
    private var assignments: UInt64 = 0

    /// An empty seat.
    public init() {}

    /// Counts an assignment that is yet to come.
    func reserve() -> UInt64 {
        assignments += 1
        return assignments
    }

    /// True where nothing was assigned since.
    func isReserved(_ ticket: UInt64) -> Bool { assignments == ticket }

    /// Seats a reactor, or none, and gives the bag to bind it into.
    func take(_ new: Mirror<R>?) -> BindingBag? {
        assignments += 1
        bag?.cancel()
        bag = new == nil ? nil : BindingBag()
        reactor = new
        return bag
    }
}

/// Work that ends together.
public final class BindingBag: Sendable {
    private let state = Guarded(State())

    private struct State {
        var isCancelled = false
        var tasks: [Task<Void, Never>] = []
    }

    /// An empty bag.
    public init() {}

    deinit { cancel() }

    /// Ends a task with the bag.
    public func add(_ task: Task<Void, Never>) {
        let isLate = state.withLock { state in
            if !state.isCancelled { state.tasks.append(task) }
            return state.isCancelled
        }
        if isLate { task.cancel() }
    }

    /// Calls `body` with each value of a sequence, until the sequence or the bag ends. A sequence
    /// that fails ends alone.
    public func follow<Source: AsyncSequence & Sendable>(
        _ source: Source, _ body: @escaping @Sendable (Source.Element) async -> Void
    ) {
        add(
            Task {
                do {
                    for try await value in source {
                        if Task.isCancelled { return }
                        await body(value)
                    }
                } catch {
                    // A source that fails is a source that has ended.
                }
            })
    }

    /// Ends everything in the bag, and what is put into it later.
    public func cancel() {
        let tasks = state.withLock { state in
            state.isCancelled = true
            defer { state.tasks = [] }
            return state.tasks
        }
        for task in tasks { task.cancel() }
    }
}
