/// Runs sagas: a tree, in a store or a daemon, or a mirror, in a client's process.
///
/// *Place*: below ``SagaContext``; the same saga code runs on both.
/// *Owner*: any thread.
package protocol SagaHost<Target>: Sendable {
    associatedtype Target: Reactor
    var runtime: SagaRuntime { get }
    /// The reactor's path, for error texts.
    var path: String { get }
    /// Whether the saga belongs to another reactor than this one.
    var isVisiting: Bool { get }

    /// Runs `job` on the broker's isolation, in the order of the calls; with `nil` if the reactor
    /// is gone.
    func perform(_ job: @escaping @Sendable (SagaBroker<Target>?) -> Void)

    /// Registers the top-level saga `scope` with the reactor, which ends it when it is removed,
    /// then runs `start`.
    func adopt(_ scope: SagaScope, _ start: @escaping @Sendable () -> Void)

    /// Dispatches an action to another node for `scope`.
    func put(
        _ action: WireEmbedded, to path: String, for scope: SagaScope, then: @escaping SagaPutEnd)

    /// Finds another node; the receiver of the result releases it.
    func find<Other: Reactor>(
        _ type: Other.Type, at path: String, then: @escaping SagaTargetReceiver<Other>)
}

extension SagaHost {
    package var isVisiting: Bool { false }
}

/// Another reactor that a saga has opened.
package struct SagaTarget<R: Reactor>: Sendable {
    let host: any SagaHost<R>
    let log: SagaLog<R>
    /// Called when the saga no longer needs it.
    let giveBack: @Sendable () -> Void

    package init(
        _ host: any SagaHost<R>, _ log: SagaLog<R>,
        giveBack: @escaping @Sendable () -> Void = {}
    ) {
        self.host = host
        self.log = log
        self.giveBack = giveBack
    }
}

/// Receives another reactor, or the error that there is none.
package typealias SagaTargetReceiver<R: Reactor> =
    @Sendable (Result<SagaTarget<R>, any Error>) -> Void
