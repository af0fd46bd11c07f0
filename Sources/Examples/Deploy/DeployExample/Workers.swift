public import ReactorCore

/// The workers: connections that ask for runs.
///
/// A worker sends ``Action/next(name:)`` and waits for the answer, which is a run. It performs the
/// run's script, reports to the run, and asks again. The end of its connection removes it here, and
/// takes away the run that it owns there.
@Reactor
public struct Workers {
    /// Creates a list without workers.
    public init() {}

    /// A request of a worker.
    public enum Action: Equatable, Sendable {
        /// Waits for a run; the reply names it. If the connection ends first, the daemon rejects it
        /// as `OWNER_ENDED`.
        case next(name: String)
        /// The coordinator gives a run to an idle worker.
        @WireInternal case give(run: RunID, to: Worker)
    }

    /// A change of the list.
    public enum Mutation: Equatable, Sendable {
        /// A worker asks for a run.
        case asked(Idle)
        /// A worker got a run.
        case given(run: RunID, to: Worker)
        /// A worker's connection has ended.
        case left(connection: UInt64)
    }

    /// The reply to `next`.
    public struct Reply: Equatable, Sendable {
        /// The run to perform.
        public var run: RunID
    }

    /// A worker that waits for a run.
    @WireCodable
    public struct Idle: Equatable, Sendable {
        /// The worker.
        public var worker: Worker
        /// The right to answer it.
        public var ticket: ReplyTicket
    }

    /// The workers, for all mirrors.
    @ReactorState
    public struct State: Equatable, Sendable {
        /// The names of the connected workers, by connection.
        public var names: Keyed<UInt64, String> = [:]
        /// The workers that wait for a run, the longest waiting first.
        public var idle: [Idle] = []

        /// Creates a state without workers.
        public init() {}
    }

    public func mutate(
        action: Action, state: State, context: ReactorContext<Self>
    ) throws(Rejection) -> Mutations<Mutation> {
        switch action {
        case .next(let name):
            guard !context.caller.isDaemon else {
                throw Rejection(
                    "no_connection", "a worker asks over its connection, and the daemon has none")
            }
            let worker = Worker(connection: context.caller.connection, name: name)
            guard !state.idle.contains(where: { $0.worker.connection == worker.connection }) else {
                throw Rejection("waits", "this connection waits for a run already")
            }
            context.own("worker")
            return [.asked(Idle(worker: worker, ticket: context.deferReply()))]
        case .give(let run, let worker):
            guard let idle = state.idle.first(where: { $0.worker == worker }) else {
                throw Rejection("not_idle", "worker \(worker.name) does not wait for a run")
            }
            context.answer(idle.ticket, with: Reply(run: run))
            return [.given(run: run, to: worker)]
        }
    }

    public func connectionEnded(
        _ owned: OwnedKeys, state: State, context: ReactorContext<Self>
    ) -> Mutations<Mutation> {
        [.left(connection: owned.connection)]
    }

    public func reduce(state: inout State, mutation: Mutation) {
        switch mutation {
        case .asked(let idle):
            state.names[idle.worker.connection] = idle.worker.name
            state.idle.append(idle)
        case .given(_, let worker): state.idle.removeAll { $0.worker == worker }
        case .left(let connection):
            state.names[connection] = nil
            state.idle.removeAll { $0.worker.connection == connection }
        }
    }
}
