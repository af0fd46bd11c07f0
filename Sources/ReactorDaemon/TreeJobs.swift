import ReactorCore

/// What effects and sagas posted, some of it each turn.
///
/// *Place*: between the inbox, which any thread fills, and the turn's end. A chain of sagas that put
/// to each other, or an effect that emits without end, leaves every turn room for the clients.
/// *Owner*: the loop's thread.
final class TreeJobs {
    typealias Job = @Sendable (Tree) -> Void

    private let posted: () -> [Job]
    private var waiting: [Job] = []
    private var next = 0
    /// Turns that left jobs to the next one.
    private(set) var shortenedCount: UInt64 = 0

    /// Most jobs that are run in one turn; the others wait, in their order, for the next.
    static let perTurnMax = 1_024

    /// Shares out what `posted` takes from an inbox.
    init(_ posted: @escaping () -> [Job]) { self.posted = posted }

    /// Whether jobs wait for the next turn.
    var hasMore: Bool { next < waiting.count }

    /// How many wait.
    var waitingCount: Int { waiting.count - next }

    /// Takes this turn's share.
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
        if hasMore {
            shortenedCount &+= 1
            compact()
        } else {
            waiting = []
            next = 0
        }
        return share
    }

    // because moving the rest in every turn would cost as much as there waits
    private func compact() {
        guard next > waiting.count / 2 else { return }
        waiting.removeFirst(next)
        next = 0
    }
}
