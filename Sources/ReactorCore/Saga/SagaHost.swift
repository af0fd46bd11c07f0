/// Where a saga runs: a tree, in a store or a daemon; or a mirror, in a client's process.
///
/// *Place*: below ``SagaContext``; the same saga runs in both, and cannot tell them apart.
/// *Owner*: any thread.
package protocol SagaHost<Target>: Sendable {
    associatedtype Target: Reactor
    var room: SagaRoom { get }
    /// Where the reactor is, for people.
    var path: String { get }
    /// Whether the saga belongs to another reactor, and only looks at this one.
    var isVisiting: Bool { get }

    /// Runs `job` on the desk's isolation, in the order of the calls; without one where the reactor
    /// is gone.
    func perform(_ job: @escaping @Sendable (SagaDesk<Target>?) -> Void)

    /// Runs `start` once `scope`, which hangs on no other, is listed with the reactor, to be torn
    /// down with it.
    func adopt(_ scope: SagaScope, _ start: @escaping @Sendable () -> Void)

    /// Dispatches an action to another node for `scope`.
    func put(
        _ action: WireEmbedded, to path: String, for scope: SagaScope, then: @escaping SagaPutEnd)

    /// Finds another node; `then` gives it back when it is needed no more.
    func find<Other: Reactor>(
        _ type: Other.Type, at path: String, then: @escaping SagaPlaceEnd<Other>)
}

extension SagaHost {
    package var isVisiting: Bool { false }
}

/// Takes where another reactor is, if it is anywhere.
package typealias SagaPlaceEnd<R: Reactor> =
    @Sendable (Result<SagaPlace<R>, any Error>) -> Void
