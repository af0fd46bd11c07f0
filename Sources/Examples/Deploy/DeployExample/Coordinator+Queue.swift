public import Foundation
public import ReactorCore
import ReactorFoundation

extension Coordinator {
    /// Gives the longest waiting runs to the longest waiting workers, as far as the limit has room.
    func assign(_ state: State, _ context: ReactorContext<Self>) -> Mutations<Mutation> {
        let limits = context.state(of: $settings)
        let room = max(0, limits.runsMax - state.running.count)
        // All starts are one transaction: a follower for each of them would be a chain, which the
        // tree cuts at its greatest depth.
        let starts = zip(state.waiting, context.state(of: $workers).idle).prefix(room)
        let mutations = Mutations(sync: starts.map { run, _ in Mutation.started(run) })
        return starts.reduce(mutations) { mutations, start in
            let (run, worker) = (start.0, start.1.worker)
            return
                mutations
                .sending(
                    .start(worker: worker, limits: limits),
                    to: $projects[run.project].$runs[run.number]
                )
                .sending(.give(run: run, to: worker), to: $workers)
        }
    }

    /// Follows a run from one phase to the next.
    func turned(
        _ run: RunID, _ phase: RunPhase, _ context: ReactorContext<Self>
    ) -> Mutations<Mutation> {
        switch phase {
        case .running, .deploying: return .none
        case .waiting:
            context.dispatch(.assign)
            return [.queued(run)]
        case .pausing:
            context.dispatch(.assign)
            return [.paused(run)]
        case .succeeded, .failed, .cancelled:
            context.dispatch(.assign)
            return [.ended(run: run, phase: phase)]
        }
    }
}

// MARK: - Projects and their triggers
extension Coordinator {
    /// Removes a project with its triggers.
    func removing(_ project: String, _ context: ReactorContext<Self>) -> Mutations<Mutation> {
        let triggers = context.keys(of: $triggers).filter {
            context.state(of: $triggers, $0)?.project == project
        }
        return triggers.reduce(Mutations.none.removing($projects, project)) {
            $0.removing($triggers, $1)
        }
    }

    /// Maximum number of triggers. A project is removed with its triggers in one transaction, which
    /// has a maximum of mutations.
    static var triggersMax: Int { 256 }

    /// Creates a trigger under a random key, and replies with that.
    func openingTrigger(
        of project: String, _ context: ReactorContext<Self>
    ) -> Mutations<Mutation> {
        var random = context.random
        let token = UUID(using: &random)
        context.reply(Reply(trigger: token.uuidString.lowercased()))
        return Mutations.none.creating($triggers, token)
            .also($triggers, token, .opened(project: project))
    }
}

// MARK: - Consequences
extension Coordinator {
    public func childrenChanged(
        _ change: ChildrenChange, state: State, context: ReactorContext<Self>
    ) -> Mutations<Mutation> {
        if let name = change.created(in: $projects) { return [.added(project: name)] }
        if let name = change.removed(in: $projects) { return [.dropped(project: name)] }
        return .none
    }

    public func followerRejected(
        _ refusal: FollowerRefusal, state: State, context: ReactorContext<Self>
    ) -> Mutations<Mutation> {
        [.noted("\(refusal.path): \(refusal.rejection.message)")]
    }

    /// Announces ended runs; the state has what is still to be announced, so that a failure or a
    /// restart loses nothing. A person starts the announcements again that have failed too often.
    public var sagas: [Saga<Self>] {
        [
            Saga("announce", restart: Self.restart) { [hooks] saga in
                try await hooks.announceAll(saga)
            },
            Saga("announce again") { [hooks] saga in
                saga.takeLeading(where: { $0 == .announce }) { saga, _ in
                    try await hooks.announceAll(saga)
                }
            },
        ]
    }

    private static let restart = SagaRestart.backoff(
        most: .seconds(60), giveUpAfter: 20, within: .seconds(3_600))

    /// Announces again after a start of the daemon.
    public func start(state: State) -> Mutations<Mutation> {
        state.silence == nil ? .none : [.resumed]
    }

    public func sagaFailed(_ failure: SagaFailure, state: State) -> Mutations<Mutation> {
        failure.restartsAfter == nil ? [.silenced("\(failure.error)")] : .none
    }

    /// Stops the announcements that a person has started again.
    public func error(_ error: any Error, action: Action?, state: State) -> Mutations<Mutation> {
        [.silenced("\(error)")]
    }
}

extension Hooks {
    /// Announces ended runs, the oldest first, and waits for more.
    ///
    /// *Throws*: the error of an announcement, which is still to be made.
    fileprivate func announceAll(_ saga: SagaContext<Coordinator>) async throws {
        while true {
            while let next = try await saga.select(\.announcements).first {
                try await announce(next)
                try await saga.put(.announced(next.run))
            }
            _ = try await saga.mutations.take { if case .ended = $0 { true } else { nil } }
        }
    }
}

extension Coordinator.State {
    /// Applies a change.
    mutating func apply(_ mutation: Coordinator.Mutation) {
        switch mutation {
        case .added(let name): names = (names + [name]).sorted()
        case .dropped(let name):
            names.removeAll { $0 == name }
            waiting.removeAll { $0.project == name }
        case .queued(let run): waiting.append(run)
        case .started(let run):
            waiting.removeAll { $0 == run }
            running.append(run)
        case .paused(let run): running.removeAll { $0 == run }
        case .ended(let run, let phase):
            waiting.removeAll { $0 == run }
            running.removeAll { $0 == run }
            announcements.append(Announcement(run: run, phase: phase))
        case .announced(let run):
            // A later project of the same name may have ended a run of the same number since.
            if let index = announcements.firstIndex(where: { $0.run == run }) {
                announcements.remove(at: index)
            }
        case .noted(let text): note(text)
        case .silenced(let reason):
            silence = reason
            note("the announcements have stopped: \(reason): start them with deploy announce")
        case .resumed: silence = nil
        }
    }

    private mutating func note(_ text: String) {
        notes.append(text)
        notes.removeFirst(max(0, notes.count - Coordinator.notesMax))
    }
}

extension Rejection {
    /// No project has this name.
    static func noProject(_ name: String) -> Rejection {
        Rejection(.notFound, "no project is called \(name): add it first")
    }
}

extension String {
    /// Rejects a text that is not a project's name: 1 to 40 letters, digits and hyphens.
    func checkProjectName() throws(Rejection) {
        let isName = allSatisfy { $0.isLetter || $0.isNumber || $0 == "-" }
        guard isName, (1...40).contains(count) else {
            throw Rejection("bad_name", "a project's name has 1 to 40 letters, digits and hyphens")
        }
    }
}

// MARK: - Paths
extension Coordinator {
    /// The path of the limits in a daemon.
    public static let settingsPath = ReactorPath(Coordinator.self).child(\.$settings)
    /// The path of the workers in a daemon.
    public static let workersPath = ReactorPath(Coordinator.self).child(\.$workers)

    /// The path of the project with this name in a daemon.
    public static func path(of project: String) -> ReactorPath<Project> {
        ReactorPath(Coordinator.self).child(\.$projects, project)
    }

    /// The path of the trigger with this token in a daemon.
    public static func path(ofTrigger token: UUID) -> ReactorPath<Trigger> {
        ReactorPath(Coordinator.self).child(\.$triggers, token)
    }
}

extension RunID {
    /// The run's path in a daemon.
    public var path: ReactorPath<Run> {
        ReactorPath(Coordinator.self).child(\.$projects, project).child(\.$runs, number)
    }
}
