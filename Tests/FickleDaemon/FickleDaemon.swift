import Foundation
import ReactorCore
import ReactorDaemonCommand

/// A daemon for the tests of histories whose reactors have changed.
///
/// The environment variable `FICKLE_SURCHARGE` is added to every `reduce`, as if the author had
/// changed the reactor; `FICKLE_TYPES` names a later version of the reactor's types.
@main
struct FickleDaemon: DaemonCommand {
    static let abstract = "Counts, and not always in the same way."
    static var reactors: DaemonReactors {
        let environment = ProcessInfo.processInfo.environment
        return switch environment["FICKLE_TYPES"] {
        case "renamed": .root(Renamed.Fickle())
        case "aliased": .root(Aliased.Fickle())
        case "retyped": .root(Retyped.Fickle())
        case "unplanned": .root(Unplanned.Fickle())
        case "other": .root(Steady())
        case "starting": .root(Starting())
        default: .root(Fickle(surcharge: Int(environment["FICKLE_SURCHARGE"] ?? "0") ?? 0))
        }
    }
}

/// A counter with an exchangeable `reduce`.
@Reactor
struct Fickle {
    enum Action: Equatable {
        /// Adds `by`.
        case add(by: Int)
        /// Adds `by` in an hour.
        case plan(by: Int)
        /// Adds `by`; planned.
        case remind(by: Int)
        /// Sets the count to zero; only the daemon sends it.
        @WireInternal case forget
    }

    enum Mutation: Equatable {
        case added(by: Int)
    }

    struct State: Equatable {
        var count = 0
    }

    /// Twice the count.
    @Derived var doubled = Derivation { (state: State) in state.count * 2 }

    /// The number that `reduce` adds in addition.
    let surcharge: Int

    func mutate(action: Action) throws(Rejection) -> Mutations<Mutation> {
        switch action {
        case .add(let amount), .remind(let amount): Mutations(.added(by: amount))
        case .plan(let amount):
            Mutations.none.scheduling(
                "later", after: .seconds(3_600), Action.remind(by: amount))
        case .forget: .none
        }
    }

    func reduce(state: inout State, mutation: Mutation) {
        switch mutation {
        case .added(let amount): state.count += amount + surcharge
        }
    }
}
