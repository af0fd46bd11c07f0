import ReactorThreads

/// Writes a snapshot on a thread of its own, part by part.
///
///     let writer = try SnapshotWriter(
///         directory, of: journal.lastNumber, sequence: sequence, deliver: loop.post
///     ) {
///         result in …
///     }
///     writer.append(part)     // between turns, as often as the state takes
///     writer.finish()         // once the row has been appended
///
/// *Place*: the owner's thread hands over parts and waits for nothing; it looks at
/// ``waitingPartCount`` before it makes the next. The file has its name only once it is whole and
/// durable, so that a crash leaves the old set or the new one. *Owner*: one thread.
///
/// A row that the snapshot is of may be durable no earlier than the snapshot: so it sees to the
/// log as well, whatever the journal's own durability.
public final class SnapshotWriter {
    private let mailbox: Mailbox<SnapshotTask.Order>
    private let waiting: Guarded<Int>
    private var isOpen = true

    /// Begins a snapshot of the state as of row `number`, of the journal in `directory`; that is to
    /// end at `sequence`, or the snapshot fails.
    ///
    /// `onFinished` runs on the owner's thread through `deliver`, once, unless it is cancelled.
    public convenience init(
        _ directory: DataDirectory, of number: UInt64, sequence: UInt64,
        deliver: @escaping @Sendable (@escaping @Sendable () -> Void) -> Void,
        onFinished: @escaping (Result<SnapshotHeader, JournalError>) -> Void
    ) throws(JournalError) {
        try self.init(
            directory, of: number, sequence: sequence, tuning: JournalTuning(),
            deliver: deliver, onFinished: onFinished)
    }

    init(
        _ directory: DataDirectory, of number: UInt64, sequence: UInt64, tuning: JournalTuning,
        deliver: @escaping @Sendable (@escaping @Sendable () -> Void) -> Void,
        onFinished: @escaping (Result<SnapshotHeader, JournalError>) -> Void
    ) throws(JournalError) {
        let bell = Bell()
        mailbox = Mailbox { bell.ring() }
        waiting = Guarded(0)
        let onFinished = Parcel(onFinished)
        let task = SnapshotTask(
            directory: directory, number: number, sequence: sequence, tuning: tuning,
            mailbox: mailbox, bell: bell,
            waiting: waiting, partialName: SnapshotHeader.partialName(number))
        do {
            _ = try WorkThread(name: "snapshot") {
                let result = task.run()
                // because what it holds is the owner's, it is let go there in any case
                deliver {
                    let onFinished = onFinished.take()
                    if let result { onFinished?(result) }
                }
            }
        } catch {
            throw .system(SystemFailure(call: "pthread_create", path: "", code: error.code))
        }
    }

    deinit { cancel() }

    /// Parts that have been handed over and not been written yet.
    public var waitingPartCount: Int { waiting.withLock { $0 } }

    /// Hands over the next part.
    public func append(_ part: [UInt8]) { append { part } }

    /// Hands over the next part, which is made on the snapshot's thread.
    public func append(_ part: @escaping @Sendable () -> [UInt8]) {
        precondition(isOpen, "a part for a snapshot that has ended")
        waiting.withLock { $0 += 1 }
        mailbox.post(.part(part))
    }

    /// Says that there are no more parts. The row must have been appended by then.
    public func finish() { end(.finish) }

    /// Drops the snapshot; nothing is told.
    public func cancel() { end(.cancel) }

    private func end(_ order: SnapshotTask.Order) {
        guard isOpen else { return }
        isOpen = false
        mailbox.post(order)
    }
}
