/// The services that a tree needs from its surroundings.
public struct TreeEnvironment: Sendable {
    /// Runs a job on the tree's isolation, later; callable from anywhere.
    package var post: @Sendable (@escaping @Sendable (Tree) -> Void) -> Void
    /// Starts asynchronous work, and returns the function that cancels it.
    package var spawn: @Sendable (@escaping @Sendable () async -> Void) -> @Sendable () -> Void
    /// The clock by which everything in the tree waits.
    package var clock: TreeClock
    /// Milliseconds since 1970, for tasks that outlive the process; may jump.
    package var wallClock: @Sendable () -> Int64
    /// The random numbers of decisions.
    package var random: TreeRandom

    /// Makes an environment of these services.
    package init(
        post: @escaping @Sendable (@escaping @Sendable (Tree) -> Void) -> Void,
        spawn:
            @escaping @Sendable (
                @escaping @Sendable () async -> Void
            ) -> @Sendable () -> Void = TreeEnvironment.spawnTask,
        clock: TreeClock = .continuous, wallClock: (@Sendable () -> Int64)? = nil,
        random: TreeRandom = .system
    ) {
        self.post = post
        self.spawn = spawn
        self.clock = clock
        self.random = random
        // Without a journal, tasks end with the process, and the tree's own clock serves.
        self.wallClock = wallClock ?? { clock.now.milliseconds }
    }

    /// Starts a task on the threads of the concurrency runtime.
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
        // Tasks retain their executor, so they get the queue and not the handle that its user
        // releases.
        let executor = (executor as? any TaskExecutorHandle)?.queue ?? executor
        return { work in
            let task = Task(executorPreference: executor) { await work() }
            return { task.cancel() }
        }
    }

    /// An environment that drops effects, for replicas and replay.
    package static let inert = TreeEnvironment(post: { _ in }, spawn: { _ in {} })
}

/// A handle of an executor: its user holds the handle, tasks hold the executor behind it.
package protocol TaskExecutorHandle: TaskExecutor {
    /// The executor that tasks run on.
    var queue: any TaskExecutor { get }
}
