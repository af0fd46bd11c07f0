import ReactorBytes
import ReactorCore
import ReactorDaemon
import ReactorJournal
import ReactorLoop

@testable import ReactorServer

/// The part of a live server on the server's own thread.
final class LiveServerCore {
    let shell: ServerShell
    private let journal = HeldJournal()
    private let listener: Listener
    /// Connections accepted: in all, in the current turn, and in the turn with the most.
    private(set) var accepts = (all: 0, now: 0, most: 0)
    private var waiters: [(condition: (LiveServerCore) -> Bool, then: () -> Void)] = []

    var loop: EventLoop { shell.loop }
    var server: Server { shell.server }

    init(
        _ root: some Reactor, _ epoch: UInt64, _ limits: ServerLimits, at path: String
    ) throws {
        var secret = epoch
        shell = ServerShell(
            root, on: try EventLoop(), epoch: epoch, limits: limits, name: "live",
            journal: journal
        ) {
            secret += 1
            return secret
        }
        listener = try Listener(at: UnixAddress(path), on: shell.loop)
        listener.onAccept = { [unowned self] link in
            accepts.all += 1
            accepts.now += 1
            shell.accept(link)
        }
        shell.onTurnEnd = { [unowned self] in
            accepts.most = max(accepts.most, accepts.now)
            accepts.now = 0
            notifyWaiters()
        }
        listener.resumeAccepting()
        shell.begin()
    }

    /// Whether the outputs of turns with changes are held back.
    var isHolding: Bool {
        get { journal.isHolding }
        set { journal.isHolding = newValue }
    }

    /// The number of slices that each connection follows.
    var subscriptionCounts: [Int] {
        server.connections.inOrder.map(\.subscriptions.count)
    }

    /// Number of actions received for the first time.
    var actionCount: UInt64 { server.statistics.actions }

    /// Number of actions received again.
    var repeatCount: UInt64 { server.statistics.repeats }

    var connectionCount: Int { server.connectionCount }

    /// Calls `then` at the end of the first turn after which `condition` holds.
    func wait(for condition: @escaping (LiveServerCore) -> Bool, then: @escaping () -> Void) {
        waiters.append((condition, then))
    }

    func release() { journal.release() }

    func cut() { shell.cut() }

    private func notifyWaiters() {
        let all = waiters
        waiters = []
        for waiter in all {
            if waiter.condition(self) { waiter.then() } else { waiters.append(waiter) }
        }
    }
}

/// A journal that appends at once, or when the test tells it to.
private final class HeldJournal: Journal {
    var onAppended: ((UInt64) -> Void)?
    var onFailed: ((JournalFailure) -> Void)?
    var isHolding = false
    private var held: [UInt64] = []

    func append(_ batch: Batch) {
        if isHolding { held.append(batch.turn) } else { onAppended?(batch.turn) }
    }

    func resume() {}

    func release() {
        isHolding = false
        let turns = held
        held = []
        for turn in turns { onAppended?(turn) }
    }
}
