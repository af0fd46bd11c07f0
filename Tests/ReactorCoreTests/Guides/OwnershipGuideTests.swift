import ReactorCore
import Testing

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

@Suite("guide: ownership and deferred replies")
struct OwnershipGuideTests {
    @Test("a print is answered when it is delivered, in the order of the prints")
    func answers() throws {
        let tree = Tree(Printer(), epoch: 1)
        #expect(try tree.send(Printer.Action.print("poem"), from: 1) == "deferred 1")
        #expect(try tree.send(Printer.Action.print("novel"), from: 2) == "deferred 2")
        #expect(try tree.send(Printer.Action.print("more"), from: 1) == "rejected one_job")
        #expect(try tree.send(Printer.Action.deliver(pages: 3), from: 9) == "applied 3")
        let answer = try #require(tree.turn.takeResolutions().first)
        #expect(answer.ticket.client == 101)
        #expect(try tree.state(of: Printer.self).jobs.map(\.text) == ["novel"])
        #expect(try tree.send(Printer.Action.print("more"), from: 1) == "deferred 4")
    }

    @Test("the jobs of an ended connection leave the queue, and the next job is delivered")
    func gone() throws {
        let tree = Tree(Printer(), epoch: 1)
        try tree.send(Printer.Action.print("poem"), from: 1)
        try tree.send(Printer.Action.print("novel"), from: 2)
        tree.endConnection(1)
        #expect(tree.turn.takeResolutions().isEmpty)
        #expect(try tree.state(of: Printer.self).jobs.map(\.text) == ["novel"])
        try tree.send(Printer.Action.deliver(pages: 1), from: 9)
        #expect(tree.turn.takeResolutions().map(\.ticket.client) == [102])
        tree.endConnection(2)
        #expect(tree.revision.sequence == 4)
    }
}
