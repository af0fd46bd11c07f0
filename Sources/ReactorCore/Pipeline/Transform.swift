/// A pipeline that a reactor puts in the way of its actions, its mutations or its presented state.
///
///     func transform(action: Transform<Action>) -> Transform<Action> {
///         action.filter { $0 != .ignore }.merging(ticks)
///     }
///
/// A reactor is asked once for each, when it is mounted; one that gives back what it was handed has
/// no pipeline, and pays nothing. The stages are plain functions that run inside the transaction,
/// so that "applied" keeps its meaning. What needs time (a debounce, a throttle) goes into
/// ``stream(_:)``: what passes it are transactions of their own, and the dispatch itself is *accepted*:
/// applied, without having done anything yet.
///
/// *Owner*: built and run on the tree's isolation.
public struct Transform<Value: Sendable> {
    var stages: [Stage] = []
    var sources: [Source] = []

    enum Stage {
        /// One for one.
        case map((Value) -> Value)
        case each((Value) -> [Value])
        case stream(@Sendable (AsyncStream<Value>, Deliver) async throws -> Void)
    }

    /// Takes what came through, or in from outside, once there is room for it; answers false where no
    /// more is wanted.
    typealias Deliver = @Sendable (Value) async -> Bool

    /// What comes in from outside, in front of the stage numbered `stage`.
    struct Source {
        var stage: Int
        var read: @Sendable (Deliver) async throws -> Void
    }

    init() {}

    /// Whether everything passes unchanged, and nothing else comes in.
    public var isIdentity: Bool { stages.isEmpty && sources.isEmpty }

    /// Whether what comes out is a matter of what went in last, and of nothing else: no value before
    /// it, no source, no time.
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

    /// Lets pass what `isWanted` says.
    public func filter(_ isWanted: @escaping (Value) -> Bool) -> Transform {
        flatMap { isWanted($0) ? [$0] : [] }
    }

    /// Changes each value, or drops it.
    public func compactMap(_ change: @escaping (Value) -> Value?) -> Transform {
        flatMap { value in change(value).map { [$0] } ?? [] }
    }

    /// Puts any number of values in the place of each.
    public func flatMap(_ change: @escaping (Value) -> [Value]) -> Transform {
        adding(.each(change))
    }

    /// Calls `look` with each value, and lets it pass.
    public func handleEvents(_ look: @escaping (Value) -> Void) -> Transform {
        map { value in
            look(value)
            return value
        }
    }

    /// Sends the values through an asynchronous stream, and goes on with what comes out of that.
    ///
    /// It is at work from when the reactor begins, so that it may say something of its own; one that
    /// ends is begun anew with the next value. At most
    /// ``CoreLimits/streamedValuesMax`` values wait in front of it; the action that finds no room is
    /// rejected as `BUSY`.
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

    /// Lets the elements of `source` in as well, each a transaction of its own.
    ///
    /// It is read from when the reactor starts until it is torn down, as fast as its elements are
    /// applied: at most ``CoreLimits/sourcedValuesMax`` of them wait. One that ends or fails ends
    /// nothing else; the error goes to ``Reactor/error(_:action:state:)``.
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
