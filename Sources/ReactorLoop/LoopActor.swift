/// An actor whose code runs on a loop's thread.
///
/// *Place*: the client's shell and the daemon's effects, where Swift concurrency meets the loop.
/// An actor only needs to conform; modules without unsafe code cannot name an executor themselves:
///
///     actor Courier: LoopActor {
///         nonisolated let loopHandle: LoopHandle
///         init(_ loopHandle: LoopHandle) { self.loopHandle = loopHandle }
///     }
///
/// A loop callback may call into it with `assumeIsolated`, at about 150 ns per call.
package protocol LoopActor: Actor {
    /// The loop of the actor, the same for its whole life.
    nonisolated var loopHandle: LoopHandle { get }
}

extension LoopActor {
    /// The loop's executor, which the loop handle keeps alive as long as the actor.
    package nonisolated var unownedExecutor: UnownedSerialExecutor {
        unsafe loopHandle.executor.asUnownedSerialExecutor()
    }
}
