/// A pipeline for the actions, the mutations or the shown state of a reactor.
///
///     func transform(action: Transform<Action>) -> Transform<Action> {
///         action.filter { $0 != .ignore }.merging(ticks)
///     }
///
/// The tree reads a reactor's transforms once, when it mounts the reactor; a transform without
/// stages costs nothing. The stages are plain functions that run inside the transaction, so that
/// "applied" keeps its meaning. Stages that need time (a debounce, a throttle) go into
/// ``stream(_:)``: each output of a stream is a separate transaction, and the result of the
/// dispatch is *accepted*: applied, without having done anything yet.
///
/// *Owner*: built and run on the tree's isolation.
public struct Transform<Value: Sendable> {
    var stages: [Stage] = []
    var sources: [Source] = []

    enum Stage {
        /// One output for each input.
        case map((Value) -> Value)
        case each((Value) -> [Value])
        case stream(@Sendable (AsyncStream<Value>, Deliver) async throws -> Void)
    }

    /// Takes a value of a stream or a source, once there is capacity for it. Returns false if no
    /// more values are wanted.
    typealias Deliver = @Sendable (Value) async -> Bool

    /// A source whose values enter in front of the stage numbered `stage`.
    struct Source {
        var stage: Int
        var read: @Sendable (Deliver) async throws -> Void
    }

    init() {}

    /// Whether all values pass unchanged, and no source is merged.
    package var isIdentity: Bool { stages.isEmpty && sources.isEmpty }

    /// Whether each output depends on the current input alone: not on earlier values, a source or
    /// time.
    var isOneForOne: Bool {
        sources.isEmpty
            && stages.allSatisfy { stage in
                if case .map = stage { true } else { false }
            }
    }

    /// Changes each value.
    public func map(_ change: @escaping (Value) -> Value) -> Transform {
        adding(.map(change))
    }

    /// Passes the values for which `isWanted` is true.
    public func filter(_ isWanted: @escaping (Value) -> Bool) -> Transform {
        flatMap { isWanted($0) ? [$0] : [] }
    }

    /// Changes each value, or drops it.
    public func compactMap(_ change: @escaping (Value) -> Value?) -> Transform {
        flatMap { value in change(value).map { [$0] } ?? [] }
    }

    /// Replaces each value with any number of values.
    public func flatMap(_ change: @escaping (Value) -> [Value]) -> Transform {
        adding(.each(change))
    }

    /// Calls `look` with each value, and passes it on.
    public func handleEvents(_ look: @escaping (Value) -> Void) -> Transform {
        map { value in
            look(value)
            return value
        }
    }

    /// Sends the values through an asynchronous stream, and continues with its output.
    ///
    /// The stream runs from the start of the reactor, so it may produce values of its own; after
    /// its end, the next value starts it again. At most ``CoreLimits/streamedValuesMax`` values
    /// wait in front of it; beyond that, an action is rejected as `BUSY`.
    public func stream<Output: AsyncSequence>(
        _ change: @escaping @Sendable (AsyncStream<Value>) -> Output
    ) -> Transform
    where Output.Element == Value, Output: SendableMetatype, Output.AsyncIterator: SendableMetatype
    {
        adding(
            .stream { input, deliver in
                for try await value in change(input) {
                    guard await deliver(value) else { return }
                }
            })
    }

    /// Adds the elements of `source`, each as a separate transaction.
    ///
    /// The tree reads it from the start of the reactor until its removal, as fast as it applies the
    /// elements: at most ``CoreLimits/sourcedValuesMax`` of them wait. The end or failure of a
    /// source ends nothing else; the error goes to ``Reactor/error(_:action:state:context:)``.
    public func merging<Input: AsyncSequence & Sendable>(
        _ source: Input
    ) -> Transform where Input.Element == Value {
        var more = self
        more.sources.append(
            Source(stage: stages.count) { deliver in
                for try await value in source {
                    guard await deliver(value) else { return }
                }
            })
        return more
    }

    private func adding(_ stage: Stage) -> Transform {
        var more = self
        more.stages.append(stage)
        return more
    }
}
