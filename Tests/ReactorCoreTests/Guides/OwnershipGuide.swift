import ReactorCore

// The code of the guide on ownership, line for line.

@Reactor
struct Printer {
    enum Action {
        case print(String)
        case deliver(pages: Int)
    }
    enum Mutation {
        case queued(Job)
        case delivered
        case left(connection: UInt64)
    }
    struct Reply: Equatable { var pages: Int }
    struct State: Equatable { var jobs: [Job] = [] }

    @WireCodable
    struct Job: Equatable {
        var text: String
        var connection: UInt64
        var ticket: ReplyTicket
    }

    func mutate(
        action: Action, state: State, context: ReactorContext<Self>
    ) throws(Rejection) -> Mutations<Mutation> {
        switch action {
        case .print(let text):
            guard !state.jobs.contains(where: { $0.connection == context.caller.connection })
            else { throw Rejection("one_job", "wait for the first job of this connection") }
            context.own("job")
            return [
                .queued(
                    Job(
                        text: text, connection: context.caller.connection,
                        ticket: context.deferReply()))
            ]
        case .deliver(let pages):
            guard let job = state.jobs.first else { throw Rejection("idle", "no job waits") }
            context.disown("job", connection: job.connection)
            context.answer(job.ticket, with: Reply(pages: pages))
            return [.delivered]
        }
    }

    func connectionEnded(
        _ owned: OwnedKeys, state: State, context: ReactorContext<Self>
    ) -> Mutations<Mutation> {
        [.left(connection: owned.connection)]
    }

    func reduce(state: inout State, mutation: Mutation) {
        switch mutation {
        case .queued(let job): state.jobs.append(job)
        case .delivered: state.jobs.removeFirst()
        case .left(let connection): state.jobs.removeAll { $0.connection == connection }
        }
    }
}
