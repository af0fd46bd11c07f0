import ReactorCore
import Synchronization

/// A world under the test's control: effects and their emissions run when it says so.
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

    /// Numbers of the cancelled effects, in the order of their cancellation; the first effect is
    /// 1.
    var cancelled: [Int] { state.withLock { $0.cancelled } }

    /// Number of started effects.
    var spawned: Int { state.withLock { $0.spawned } }

    /// Runs the waiting effects, one after another, to their ends.
    func runEffects() async {
        let work = state.withLock { state in
            defer { state.work = [] }
            return state.work
        }
        for effect in work { await effect.run() }
    }

    /// Passes the posted jobs to the tree.
    func deliver(to tree: Tree) {
        let posts = state.withLock { state in
            defer { state.posts = [] }
            return state.posts
        }
        for post in posts { post(tree) }
    }
}
