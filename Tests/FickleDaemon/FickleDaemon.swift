import Foundation
import ReactorCore
import ReactorDaemonCommand

/// A daemon for the tests of the replay. The environment variable `FICKLE_SURCHARGE` is added to
/// every `reduce`, as if the author had changed the reactor.
@main
struct FickleDaemon: DaemonCommand {
    static let abstract = "Counts, and not always in the same way."
    static var reactors: DaemonReactors {
        let surcharge = ProcessInfo.processInfo.environment["FICKLE_SURCHARGE"] ?? "0"
        return .root(Fickle(surcharge: Int(surcharge) ?? 0))
    }
}

/// A counter with an exchangeable `reduce`.
@Reactor
struct Fickle {
    enum Action: Equatable {
        /// Adds `by`.
        case add(by: Int)
        /// Sets the count to zero; only the daemon sends it.
        @WireInternal case forget
    }

    enum Mutation: Equatable {
        case added(by: Int)
    }

    struct State: Equatable {
        var count = 0
    }

    /// The number that `reduce` adds in addition.
    let surcharge: Int

    func mutate(action: Action) throws(Rejection) -> Mutations<Mutation> {
        switch action {
        case .add(let amount): Mutations(.added(by: amount))
        case .forget: .none
        }
    }

    func reduce(state: inout State, mutation: Mutation) {
        switch mutation {
        case .added(let amount): state.count += amount + surcharge
        }
    }
}
