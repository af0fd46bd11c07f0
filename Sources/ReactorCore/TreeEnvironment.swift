/// What a tree needs of the world it lives in.
public struct TreeEnvironment: Sendable {
    /// Runs a job on the tree's isolation, later; callable from anywhere.
    public var post: @Sendable (@escaping @Sendable (Tree) -> Void) -> Void
    /// Starts asynchronous work, and says how to cancel it.
    public var spawn: @Sendable (@escaping @Sendable () async -> Void) -> @Sendable () -> Void
    /// The time by which everything in the tree waits.
    public var clock: TreeClock
    /// Milliseconds since 1970, for what is planned beyond the life of the process; may jump.
    public var wallClock: @Sendable () -> Int64

    /// Makes a world of the way onto the isolation, the way off it, and the time.
    public init(
        post: @escaping @Sendable (@escaping @Sendable (Tree) -> Void) -> Void,
        spawn:
            @escaping @Sendable (
                @escaping @Sendable () async -> Void
            ) -> @Sendable () -> Void = TreeEnvironment.spawnTask,
        clock: TreeClock = .continuous, wallClock: (@Sendable () -> Int64)? = nil
    ) {
        self.post = post
        self.spawn = spawn
        self.clock = clock
        // because what nobody keeps is planned by the tree's own time as well
        self.wallClock = wallClock ?? { clock.now.milliseconds }
    }

    /// Starts a task on the concurrency runtime's own threads.
    public static let spawnTask:
        @Sendable (
            @escaping @Sendable () async -> Void
        ) -> @Sendable () -> Void = { work in
            let task = Task { await work() }
            return { task.cancel() }
        }

    /// Starts a task on `executor`.
    public static func spawn(
        on executor: any TaskExecutor
    ) -> @Sendable (@escaping @Sendable () async -> Void) -> @Sendable () -> Void {
        // Tasks hold the executor that they run on, so they must not get one that ends with its user.
        let executor = (executor as? any TaskExecutorHandle)?.queue ?? executor
        return { work in
            let task = Task(executorPreference: executor) { await work() }
            return { task.cancel() }
        }
    }

    /// A world in which effects are dropped: for replicas and replay.
    public static let inert = TreeEnvironment(post: { _ in }, spawn: { _ in {} })
}

/// An executor that its user holds, while tasks hold the one behind it: its end ends the use.
package protocol TaskExecutorHandle: TaskExecutor {
    /// What tasks run on.
    var queue: any TaskExecutor { get }
}
