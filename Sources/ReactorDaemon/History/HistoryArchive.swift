import ReactorCore
import ReactorJournal
import ReactorServer
import ReactorThreads
import ReactorWire

/// Answers questions about the past on a thread of its own, so that no turn waits for them.
///
/// *Place*: beside a running daemon, over the directory that its journal writes. *Owner*: the loop
/// asks; answers come through `answer`, on the archive's thread, one for each question.
final class HistoryArchive: Sendable {
    /// What makes the daemon's reactors once more.
    typealias Roots = @Sendable () throws -> any Reactor
    /// Who is told.
    typealias Answer = @Sendable (Inquiry, Result<[UInt8], Refusal>) -> Void

    private enum Order: Sendable {
        case question(Inquiry)
        case look
        case hurry(ConnectionID)
        case forget(ConnectionID)
        case tick(UInt64)
        case stop
    }

    private let mailbox: Mailbox<Order>
    private let thread: WorkThread
    private let isStopping: Flag
    /// Whether a question waits for something to happen.
    private let hasFollowers: Flag
    /// Connections whose end the archive's thread has not come to yet.
    private let gone: Guarded<Set<ConnectionID>>

    init(
        _ directory: DataDirectory, dropped: [SlicePath], limits: ServerLimits, roots: Roots?,
        answer: @escaping Answer
    ) throws(WorkThreadError) {
        let bell = Bell()
        let mailbox = Mailbox<Order> { bell.ring() }
        let (isStopping, hasFollowers) = (Flag(), Flag())
        let gone = Guarded<Set<ConnectionID>>([])
        self.mailbox = mailbox
        (self.isStopping, self.hasFollowers, self.gone) = (isStopping, hasFollowers, gone)
        thread = try WorkThread(name: "history") {
            let clerk = ArchiveClerk(
                directory, dropped: dropped, limits: limits, roots: roots,
                hasFollowers: hasFollowers,
                isOver: { connection in
                    isStopping.isUp || gone.withLock { $0.contains(connection) }
                }, answer: answer)
            var isRunning = true
            while isRunning {
                if !clerk.hasWork { bell.wait() }
                var isToLook = false
                for order in mailbox.drain() {
                    switch order {
                    case .question(let inquiry): clerk.take(inquiry)
                    case .look: isToLook = true
                    case .hurry(let connection): clerk.hurry(connection)
                    case .forget(let connection):
                        clerk.forget(connection)
                        gone.withLock { _ = $0.remove(connection) }
                    case .tick(let now): clerk.tick(at: now)
                    case .stop: isRunning = false
                    }
                }
                if isToLook { clerk.look() }
                if isRunning { clerk.step() }
            }
            // because every question is answered, if only with the reason why it is not
            while clerk.hasWork { clerk.step() }
        }
    }

    /// Takes a question.
    func take(_ inquiry: Inquiry) { mailbox.post(.question(inquiry)) }

    /// The journal has rows that it had not: questions that wait for that are answered. *Cost*: a load
    /// where no question waits.
    func noteAppended() { if hasFollowers.take() { mailbox.post(.look) } }

    /// Tells the time, in nanoseconds: questions that wait, and trees between two pages, have a
    /// deadline.
    func tick(at now: UInt64) { mailbox.post(.tick(now)) }

    /// A connection asks nothing more, and waits for nothing to happen.
    func hurry(_ connection: ConnectionID) { mailbox.post(.hurry(connection)) }

    /// A connection has gone, and waits for nothing: what it has asked for is not looked into, or
    /// not to its end.
    func forget(_ connection: ConnectionID) {
        gone.withLock { _ = $0.insert(connection) }
        mailbox.post(.forget(connection))
    }

    /// Has what is under way end soon, and looks into nothing more.
    func stop() {
        isStopping.raise()
        mailbox.post(.stop)
    }

    /// Ends what is under way, and the thread.
    func close() {
        stop()
        thread.join()
    }
}
