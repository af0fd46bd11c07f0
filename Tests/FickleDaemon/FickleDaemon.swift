import Foundation
import ReactorCore
import ReactorDaemonCommand

/// A daemon for the tests of replaying: `FICKLE_SURCHARGE` says what its `reduce` adds besides, as
/// if its author had changed that.
@main
struct FickleDaemon: DaemonCommand {
    static let abstract = "Counts, and not always in the same way."
    static var reactors: DaemonReactors {
        let surcharge = ProcessInfo.processInfo.environment["FICKLE_SURCHARGE"] ?? "0"
        return .root(Fickle(surcharge: Int(surcharge) ?? 0))
    }
}

/// A count whose `reduce` is another where it is told so.
@Reactor
struct Fickle {
    enum Action: Equatable {
        /// Adds `by`.
        case add(by: Int)
    }

    enum Mutation: Equatable {
        case added(by: Int)
    }

    struct State: Equatable {
        var count = 0
    }

    /// What `reduce` adds besides.
    let surcharge: Int

    func mutate(action: Action) throws(Rejection) -> Mutations<Mutation> {
        switch action {
        case .add(let amount): Mutations(.added(by: amount))
        }
    }

    func reduce(state: inout State, mutation: Mutation) {
        switch mutation {
        case .added(let amount): state.count += amount + surcharge
        }
    }
}
