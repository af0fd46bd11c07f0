extension UnownedJob {
    /// Runs the job here and now, as one of `executor`.
    ///
    /// *Owner*: whoever took the job out of the executor's queue; a job runs once.
    public func run(on executor: some TaskExecutor) {
        unsafe runSynchronously(on: executor.asUnownedTaskExecutor())
    }
}
