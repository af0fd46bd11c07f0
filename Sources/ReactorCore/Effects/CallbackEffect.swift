import ReactorThreads

extension Effect {
    /// Work that answers through callbacks, for longer than `body` runs: the effect stays open
    /// until the emitter is completed or released, or the effect is cancelled.
    ///
    ///     Effect.callback { emit in
    ///         let observer = sensor.observe { emit(.measured($0)) }
    ///         emit.onEnd { sensor.remove(observer) }
    ///     }
    ///
    /// *Throws*: an error of `body` ends the effect like any other, after its `onEnd` jobs.
    public static func callback(
        cancelID: String? = nil, lifetime: EffectLifetime = .reactor, deadline: Duration? = nil,
        fileID: StaticString = #fileID, line: UInt = #line,
        _ body: @escaping @Sendable (CallbackEmitter<Mutation>) throws -> Void
    ) -> Effect {
        Effect(
            cancelID: cancelID, lifetime: lifetime, deadline: deadline, fileID: fileID, line: line
        ) { emit in
            let end = CallbackEnd()
            defer { end.runJobs() }
            try CallbackEmitter.lend(emit, end, to: body)
            for try await _ in end.signals {}
        }
    }
}

/// Delivers the mutations of an effect whose callbacks outlive its body: see
/// ``Effect/callback(cancelID:lifetime:deadline:fileID:line:_:)``.
///
/// The callbacks hold it. When the last of them is released, the effect ends.
/// *Owner*: any thread.
public final class CallbackEmitter<Mutation: Sendable>: Sendable {
    private let emit: Emit<Mutation>
    private let end: CallbackEnd

    private init(_ emit: Emit<Mutation>, _ end: CallbackEnd) {
        self.emit = emit
        self.end = end
    }

    deinit { end.complete(throwing: nil) }

    /// Passes a new emitter to `body`, which alone decides how long it lives.
    fileprivate static func lend(
        _ emit: Emit<Mutation>, _ end: CallbackEnd, to body: (CallbackEmitter) throws -> Void
    ) throws {
        try body(CallbackEmitter(emit, end))
    }

    /// The tree's clock.
    public var clock: TreeClock { emit.clock }

    /// Emits a mutation, applied as a separate transaction, in the order of the calls.
    public func callAsFunction(_ mutation: Mutation) { emit(mutation) }

    /// Emits a mutation and ends the effect in one transaction: see ``Emit/last(_:)``.
    public func last(_ mutation: Mutation) { emit.last(mutation) }

    /// Emits the mutation that `decide` returns for the state at the time of delivery, unless
    /// `nil`.
    public func deciding<State: Sendable>(
        _ decide: @escaping @Sendable (State) -> Mutation?
    ) {
        emit.deciding(decide)
    }

    /// Ends the effect after its earlier emissions. With an error, the effect has failed. A second
    /// call does nothing.
    public func complete(throwing error: (any Error)? = nil) { end.complete(throwing: error) }

    /// Calls `job` once when the effect has ended, however it ended: completed, cancelled, or past
    /// its deadline. Calls it at once if it has.
    public func onEnd(_ job: @escaping @Sendable () -> Void) { end.add(job) }
}

/// The end of an effect with callbacks, and the jobs to run then.
///
/// *Owner*: any thread.
private final class CallbackEnd: Sendable {
    /// Has no elements, and ends with the effect.
    let signals: AsyncThrowingStream<Never, any Error>
    private let input: AsyncThrowingStream<Never, any Error>.Continuation
    /// The jobs; `nil` after they have run.
    private let jobs = Guarded<[@Sendable () -> Void]?>([])

    init() { (signals, input) = AsyncThrowingStream.makeStream() }

    func complete(throwing error: (any Error)?) { input.finish(throwing: error) }

    func add(_ job: @escaping @Sendable () -> Void) {
        let isOver = jobs.withLock { jobs in
            jobs?.append(job)
            return jobs == nil
        }
        if isOver { job() }
    }

    /// Runs the jobs, in the order of their addition.
    func runJobs() {
        let all = jobs.withLock { jobs in
            defer { jobs = nil }
            return jobs
        }
        for job in all ?? [] { job() }
    }
}
