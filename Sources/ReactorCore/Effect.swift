/// Asynchronous work that a reactor asks for.
///
/// It starts once the transaction that asked for it is committed, runs in the daemon only, and
/// each mutation it emits is a transaction of its own. What a cancelled effect still emits is
/// dropped. An effect that throws ends; what it emitted before stays.
public struct Effect<Mutation: Sendable>: Sendable {
    /// Name by which a later effect or action cancels this one; unique within a node.
    public var cancelID: String?
    let run: @Sendable (Emit<Mutation>) async throws -> Void

    /// Work that emits any number of mutations.
    public init(
        cancelID: String? = nil,
        _ run: @escaping @Sendable (Emit<Mutation>) async throws -> Void
    ) {
        self.cancelID = cancelID
        self.run = run
    }

    /// Emits what an asynchronous sequence yields.
    public init<Source: AsyncSequence & Sendable>(
        cancelID: String? = nil, _ source: Source
    ) where Source.Element == Mutation {
        self.init(cancelID: cancelID) { emit in
            for try await mutation in source { emit(mutation) }
        }
    }
}

/// The way from an effect back to its reactor.
public struct Emit<Mutation: Sendable>: Sendable {
    let deliver: @Sendable (Mutation) -> Void

    /// Hands over a mutation; applied as a transaction of its own, in the order of the calls.
    public func callAsFunction(_ mutation: Mutation) { deliver(mutation) }
}

/// An effect that waits for its transaction to be committed.
///
/// *Owner*: the tree's isolation; `start` is called once.
public struct PendingEffect {
    /// Sequence of the transaction that asked for it.
    public let sequence: UInt64
    let start: () -> Void
}

/// An effect that runs, to be told apart from those that ran before it.
struct EffectID: Hashable, Sendable {
    var node: UInt32
    var number: UInt64
}

/// What a tree needs of the world it lives in.
public struct TreeEnvironment: Sendable {
    /// Runs a job on the tree's isolation, later; callable from anywhere.
    public var post: @Sendable (@escaping @Sendable (Tree) -> Void) -> Void
    /// Starts asynchronous work, and says how to cancel it.
    public var spawn: @Sendable (@escaping @Sendable () async -> Void) -> @Sendable () -> Void

    public init(
        post: @escaping @Sendable (@escaping @Sendable (Tree) -> Void) -> Void,
        spawn:
            @escaping @Sendable (
                @escaping @Sendable () async -> Void
            ) -> @Sendable () -> Void = TreeEnvironment.spawnTask
    ) {
        self.post = post
        self.spawn = spawn
    }

    /// Starts a task on the concurrency runtime's own threads.
    public static let spawnTask:
        @Sendable (
            @escaping @Sendable () async -> Void
        ) -> @Sendable () -> Void = { work in
            let task = Task { await work() }
            return { task.cancel() }
        }

    /// A world in which effects are dropped: for replicas and replay.
    public static let inert = TreeEnvironment(post: { _ in }, spawn: { _ in {} })
}
