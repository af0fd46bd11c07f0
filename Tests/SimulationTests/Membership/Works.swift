import ReactorCore
import ReactorThreads

/// Effects that take a while: some end with the leader that ran them, some begin again in the next.
///
/// A run of an effect is named by the term of the leader that began it.
@Reactor
struct Works {
    enum Action: Equatable, Sendable {
        /// Begins an effect that ends with its leader.
        case work(token: Int)
        /// Promises an effect that the next leader begins again.
        case promise(token: Int)
        /// A fault: an effect of a former leader reports its end.
        case report(token: Int, term: UInt64)
    }

    enum Mutation: Equatable, Sendable {
        case worked(token: Int, term: UInt64)
        case promised(token: Int)
        case kept(token: Int, id: UInt64)
    }

    struct State: Equatable, Sendable {
        /// The volatile effects that have ended, and the term of each.
        var worked: [Int] = []
        var terms: [UInt64] = []
        var promised: [Int] = []
        /// The durable effects that have ended, and the id of each.
        var kept: [Int] = []
        var ids: [UInt64] = []
    }

    /// What the effects do outside the tree.
    let floor: WorkFloor

    func mutate(action: Action, state: State) throws(Rejection) -> Mutations<Mutation> {
        switch action {
        case .work(let token):
            let term = floor.term
            return Mutations(
                async: Effect { [floor] emit in
                    try await floor.work(token, in: term, by: emit.clock)
                    emit(.worked(token: token, term: term))
                })
        case .promise(let token):
            return Mutations(.promised(token: token)).undertaking("\(token)", token)
        case .report(let token, let term): return [.worked(token: token, term: term)]
        }
    }

    func perform(_ task: DurableTask, state: State) -> Effect<Mutation> {
        let term = floor.term
        return Effect { [floor] emit in
            let token = try task.payload.decode(as: Int.self)
            floor.begin(token, id: task.id)
            try await floor.work(token, in: term, by: emit.clock, isPromised: true)
            emit.last(.kept(token: token, id: task.id))
        }
    }

    func reduce(state: inout State, mutation: Mutation) {
        switch mutation {
        case .worked(let token, let term):
            state.worked.append(token)
            state.terms.append(term)
        case .promised(let token): state.promised.append(token)
        case .kept(let token, let id):
            state.kept.append(token)
            state.ids.append(id)
        }
    }
}

/// What the effects of a node do outside the tree, and where they learn which term the node leads in.
final class WorkFloor: Sendable {
    /// Something that an effect did.
    enum Deed: Equatable, Sendable {
        /// It had an effect outside, in this term.
        case acted(term: UInt64)
        /// A durable effect began, under an id.
        case began(token: Int, id: UInt64)
        /// A fault: an effect that was to end has not.
        case survived(token: Int, term: UInt64)
    }

    private let state = Guarded((term: UInt64(0), deeds: [Deed]()))
    private let fault: MembershipFault?

    init(_ fault: MembershipFault?) { self.fault = fault }

    /// The term in which the node leads, or led last.
    var term: UInt64 { state.withLock { $0.term } }

    func setTerm(_ term: UInt64) { state.withLock { $0.term = term } }

    /// Removes and returns what was done.
    func takeDeeds() -> [Deed] {
        state.withLock { state in
            defer { state.deeds = [] }
            return state.deeds
        }
    }

    func begin(_ token: Int, id: UInt64) {
        state.withLock { $0.deeds.append(.began(token: token, id: id)) }
    }

    /// Takes a while, and then acts.
    func work(
        _ token: Int, in term: UInt64, by clock: TreeClock, isPromised: Bool = false
    ) async throws {
        // From 50 ms to 1.6 s.
        try await clock.sleep(for: .milliseconds(50 + token % 32 * 50))
        if fault == .ghostEffects {
            guard !isPromised, self.term != term else { return }
            return state.withLock { $0.deeds.append(.survived(token: token, term: term)) }
        }
        state.withLock { $0.deeds.append(.acted(term: term)) }
    }
}
