import ReactorCore
import ReactorThreads
import Synchronization
import Testing

@testable import ReactorDaemon

@Suite("TreeJobs")
struct TreeJobsTests {
    /// The jobs that a test posts.
    private final class Post {
        var jobs: [TreeJobs.Job] = []
        let flag = Flag()

        init() { flag.raise() }

        func take() -> [TreeJobs.Job] {
            defer { jobs = [] }
            return jobs
        }
    }

    @Test("R100: a turn runs its share of the posted jobs in order, and the rest later")
    func share() {
        let post = Post()
        let jobs = TreeJobs(of: post.flag) { post.take() }
        let ran = Mutex<[Int]>([])
        func add(_ numbers: Range<Int>) {
            for number in numbers {
                post.jobs.append { _ in ran.withLock { $0.append(number) } }
            }
        }
        let tree = Tree(StockCount(), epoch: 1)
        let most = TreeJobs.perTurnMax
        add(0..<2 * most + 10)
        var shares: [Int] = []
        for turn in 0..<4 {
            if turn == 1 { add(2 * most + 10..<3 * most) }
            let share = jobs.take()
            shares.append(share.count)
            for job in share { job(tree) }
            #expect(jobs.hasMore == (turn < 2))
        }
        #expect(shares == [most, most, most, 0])
        #expect(ran.withLock { $0 } == Array(0..<3 * most))
        #expect(jobs.shortenedCount == 2 && jobs.waitingCount == 0)
    }

    @Test("R100: jobs that post others forever do not keep a turn from ending")
    func chain() {
        let post = Post()
        let jobs = TreeJobs(of: post.flag) { post.take() }
        let tree = Tree(StockCount(), epoch: 1)
        let ran = Mutex(0)
        for _ in 0..<2 * TreeJobs.perTurnMax { post.jobs.append { _ in ran.withLock { $0 += 1 } } }
        for turn in 1...100 {
            for job in jobs.take() {
                job(tree)
                post.jobs.append { _ in ran.withLock { $0 += 1 } }
            }
            #expect(ran.withLock { $0 } == turn * TreeJobs.perTurnMax)
        }
        #expect(jobs.waitingCount == TreeJobs.perTurnMax)
        #expect(jobs.shortenedCount == 100)
    }
}

@Reactor
private struct StockCount {
    enum Action: Sendable { case add }
    struct State: Sendable { var count = 0 }

    func reduce(state: inout State, mutation: Action) { state.count += 1 }
}
