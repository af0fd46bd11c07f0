import ReactorCore
import ReactorJournal
import ReactorServer
import ReactorThreads
import ReactorWire

/// Answers queries about the past on its own thread, so that no turn waits for them.
///
/// *Place*: beside a running daemon, over the directory that its journal writes. *Owner*: the
/// loop's thread calls the methods; `answer` is called once per query, on the archive's thread.
final class HistoryArchive: Sendable {
    private enum Order: Sendable {
        case question(Inquiry)
        case appended
        case endWaits(of: ConnectionID)
        case forget(ConnectionID)
        case tick(UInt64)
        case stop
    }

    private let mailbox: Mailbox<Order>
    private let thread: WorkThread
    private let isStopping: Flag
    /// Whether a log query waits for new rows.
    private let hasFollowers: Flag
    /// Closed connections that the archive's thread has not processed yet.
    private let gone: Guarded<Set<ConnectionID>>

    init(
        _ directory: DataDirectory, dropped: [SlicePath], limits: ServerLimits,
        roots: ArchiveWorker.Roots?, secrets: SecretTable,
        answer: @escaping ArchiveWorker.Answer
    ) throws(WorkThreadError) {
        let bell = Bell()
        let mailbox = Mailbox<Order> { bell.ring() }
        let (isStopping, hasFollowers) = (Flag(), Flag())
        let gone = Guarded<Set<ConnectionID>>([])
        self.mailbox = mailbox
        (self.isStopping, self.hasFollowers, self.gone) = (isStopping, hasFollowers, gone)
        thread = try WorkThread(name: "history", isInBackground: true) {
            let worker = ArchiveWorker(
                directory, dropped: dropped, limits: limits, roots: roots, secrets: secrets,
                hasFollowers: hasFollowers,
                isOver: { connection in
                    isStopping.isUp || gone.withLock { $0.contains(connection) }
                }, answer: answer)
            var isRunning = true
            while isRunning {
                if !worker.hasWork { bell.wait() }
                var hasNewRows = false
                for order in mailbox.drain() {
                    switch order {
                    case .question(let inquiry): worker.take(inquiry)
                    case .appended: hasNewRows = true
                    case .endWaits(of: let connection): worker.endWaits(of: connection)
                    case .forget(let connection):
                        worker.forget(connection)
                        gone.withLock { _ = $0.remove(connection) }
                    case .tick(let now): worker.tick(at: now)
                    case .stop: isRunning = false
                    }
                }
                if hasNewRows { worker.resumeFollowers() }
                if isRunning { worker.step() }
            }
            // Every query gets an answer; after a stop it is a refusal.
            while worker.hasWork { worker.step() }
        }
    }

    /// Passes a query to the archive's thread.
    func take(_ inquiry: Inquiry) { mailbox.post(.question(inquiry)) }

    /// Resumes waiting log queries after the journal appended rows. *Cost*: one atomic access if
    /// no query waits.
    func appended() { if hasFollowers.take() { mailbox.post(.appended) } }

    /// Passes the time, in nanoseconds, against which waiting queries and exported trees expire.
    func tick(at now: UInt64) { mailbox.post(.tick(now)) }

    /// Makes a connection's log queries answer without waiting, after the connection ended its
    /// input.
    func endWaits(of connection: ConnectionID) { mailbox.post(.endWaits(of: connection)) }

    /// Cancels the queries of a connection that has closed, also the query in progress.
    func forget(_ connection: ConnectionID) {
        gone.withLock { _ = $0.insert(connection) }
        mailbox.post(.forget(connection))
    }

    /// Cancels the query in progress and refuses the queued ones; does not wait for the thread.
    func stop() {
        isStopping.raise()
        mailbox.post(.stop)
    }

    /// Stops the work and joins the thread.
    func close() {
        stop()
        thread.join()
    }
}
