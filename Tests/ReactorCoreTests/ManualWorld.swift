import ReactorCore
import Synchronization

/// A world that a test turns by hand: effects run when it says so, and so does what they emit.
final class ManualWorld: Sendable {
    private struct State {
        var work: [(number: Int, run: @Sendable () async -> Void)] = []
        var posts: [@Sendable (Tree) -> Void] = []
        var spawned = 0
        var cancelled: [Int] = []
    }

    private let state = Mutex(State())

    var environment: TreeEnvironment {
        TreeEnvironment(
            post: { job in self.state.withLock { $0.posts.append(job) } },
            spawn: { work in
                let number = self.state.withLock { state in
                    state.spawned += 1
                    state.work.append((state.spawned, work))
                    return state.spawned
                }
                return { self.state.withLock { $0.cancelled.append(number) } }
            })
    }

    /// Numbers of the cancelled effects, in the order of their cancellation; the first effect is 1.
    var cancelled: [Int] { state.withLock { $0.cancelled } }

    /// How many effects were started.
    var spawned: Int { state.withLock { $0.spawned } }

    /// Runs the effects that wait, one after another, to their ends.
    func runEffects() async {
        let work = state.withLock { state in
            defer { state.work = [] }
            return state.work
        }
        for effect in work { await effect.run() }
    }

    /// Hands over what was posted.
    func deliver(to tree: Tree) {
        let posts = state.withLock { state in
            defer { state.posts = [] }
            return state.posts
        }
        for post in posts { post(tree) }
    }
}
