import ReactorCore
import ReactorJournal
import ReactorLoop
import ReactorThreads

/// Runs the jobs that effects and sagas posted, a bounded number each turn.
///
/// *Place*: between the inbox, which any thread fills, and the turn's end. A chain of sagas that
/// post to each other, or an effect that emits without end, thus leaves time for clients in every
/// turn. *Owner*: the loop's thread.
final class TreeJobs {
    typealias Job = @Sendable (Tree) -> Void

    private let posted: () -> [Job]
    private let flag: Flag
    private var waiting: [Job] = []
    private var next = 0
    /// Number of turns that left jobs to the next turn.
    private(set) var shortenedCount: UInt64 = 0

    /// Maximum number of jobs that run in one turn; the others wait in order for the next.
    static let perTurnMax = 1_024

    /// Takes jobs through `posted` from an inbox, which has any only while `flag` is raised.
    init(of flag: Flag, _ posted: @escaping () -> [Job]) {
        (self.flag, self.posted) = (flag, posted)
    }

    /// Whether ``take()`` may return jobs. *Cost*: two loads.
    var isDue: Bool { hasMore || flag.isUp }

    /// Whether jobs wait for the next turn: ``next`` is below the count of ``waiting``.
    private(set) var hasMore = false

    /// Number of waiting jobs.
    var waitingCount: Int { waiting.count - next }

    /// Returns the jobs of this turn.
    func take() -> ArraySlice<Job> {
        let posted = posted()
        if hasMore {
            waiting.append(contentsOf: posted)
        } else {
            guard !posted.isEmpty else { return [] }
            waiting = posted
            next = 0
        }
        let end = min(waiting.count, next + Self.perTurnMax)
        let share = waiting[next..<end]
        next = end
        hasMore = next < waiting.count
        if hasMore {
            shortenedCount &+= 1
            compact()
        } else {
            waiting = []
            next = 0
        }
        return share
    }

    // Compacts only when more than half is consumed, so that the cost per job stays constant.
    private func compact() {
        guard next > waiting.count / 2 else { return }
        waiting.removeFirst(next)
        next = 0
    }
}

/// Carries jobs that effects post from any thread to the loop's thread.
///
/// Posting wakes the loop; the jobs run at the end of that turn and become part of its batch.
final class TreeInbox: Sendable {
    private let mailbox: Mailbox<@Sendable (Tree) -> Void>
    /// Raised while jobs may wait: most turns find none, and testing a flag is cheaper than taking
    /// a lock.
    let flag = Flag()

    init(waking loop: LoopHandle) {
        mailbox = Mailbox(ring: { [flag] in
            flag.raise()
            loop.post {}
        })
    }

    /// The tree's environment: posts jobs to this inbox and reads the wall clock.
    var environment: TreeEnvironment {
        TreeEnvironment(
            post: { [mailbox] in mailbox.post($0) }, wallClock: { WallClock.milliseconds() },
            random: .system)
    }

    func take() -> [@Sendable (Tree) -> Void] { flag.take() ? mailbox.drain() : [] }
}
