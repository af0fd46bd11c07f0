import Foundation
public import ReactorCore

/// A token with which a program builds a project that it does not know: `/triggers/` and a UUID.
@Reactor
public struct Trigger {
    /// Creates a trigger without a project, also for a mirror.
    public init() {}

    /// A request to a trigger.
    public enum Action: Equatable, Sendable {
        /// Builds the project.
        case fire
    }

    /// A change of a trigger.
    public enum Mutation: Equatable, Sendable {
        /// The coordinator has created the trigger of a project.
        case opened(project: String)
        /// A build was requested.
        case fired(at: WallTime)
        /// The project has refused the build.
        case refused(String)
    }

    /// A trigger's state, for all mirrors.
    @ReactorState
    public struct State: Equatable, Sendable {
        /// The project to build.
        public var project = ""
        /// When the trigger was used last; nil before the first time.
        public var lastFired: WallTime?
        /// Why the last build was refused; nil if it was not.
        public var lastRefusal: String?

        /// Creates the state of a trigger without a project.
        public init() {}
    }

    public func mutate(
        action: Action, state: State, context: ReactorContext<Self>
    ) -> Mutations<Mutation> {
        switch action {
        case .fire:
            let project = state.project
            context.dispatch(.build(because: "trigger"), toNearest: Coordinator.self) {
                $0.$projects[project]
            }
            return [.fired(at: context.now)]
        }
    }

    public func followerRejected(
        _ refusal: FollowerRefusal, state: State, context: ReactorContext<Self>
    ) -> Mutations<Mutation> {
        [.refused(refusal.rejection.message)]
    }

    public func reduce(state: inout State, mutation: Mutation) {
        switch mutation {
        case .opened(let project): state.project = project
        case .fired(let time):
            state.lastFired = time
            state.lastRefusal = nil
        case .refused(let reason): state.lastRefusal = reason
        }
    }
}

extension UUID {
    /// A random identifier: version 4 of RFC 9562.
    init(using random: inout some RandomNumberGenerator) {
        var bytes = (0..<16).map { _ in UInt8.random(in: .min ... .max, using: &random) }
        bytes[6] = bytes[6] & 0x0f | 0x40
        bytes[8] = bytes[8] & 0x3f | 0x80
        self.init(
            uuid: (
                bytes[0], bytes[1], bytes[2], bytes[3], bytes[4], bytes[5], bytes[6], bytes[7],
                bytes[8], bytes[9], bytes[10], bytes[11], bytes[12], bytes[13], bytes[14],
                bytes[15]
            ))
    }
}
