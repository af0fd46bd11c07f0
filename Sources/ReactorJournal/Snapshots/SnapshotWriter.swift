import ReactorThreads

/// Writes a snapshot on its own thread, part by part.
///
///     let writer = try SnapshotWriter(
///         directory, of: journal.lastNumber, sequence: sequence, deliver: loop.post
///     ) {
///         result in …
///     }
///     writer.append(part)     // between turns, for each part of the state
///     writer.finish()         // once the row has been appended
///
/// *Place*: the owner's thread passes parts and does not wait; it checks ``waitingPartCount``
/// before it makes the next one. The file gets its name only when it is complete and durable, so a
/// crash leaves either the old snapshots or the new one. *Owner*: one thread.
///
/// The snapshot's row must be durable before the snapshot. The writer therefore also synchronizes
/// the log, whatever the journal's durability.
package final class SnapshotWriter {
    private let mailbox: Mailbox<SnapshotTask.Order>
    private let waiting: Guarded<Int>
    private let thread: WorkThread
    private var isOpen = true

    /// Begins a snapshot of the state as of row `number` of the journal in `directory`. The
    /// snapshot fails if the row's last sequence is not `sequence`.
    ///
    /// `onFinished` is called once on the owner's thread through `deliver`, unless the snapshot is
    /// cancelled.
    package convenience init(
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
        let onFinished = OwnedValue(onFinished)
        let task = SnapshotTask(
            directory: directory, number: number, sequence: sequence, tuning: tuning,
            mailbox: mailbox, bell: bell,
            waiting: waiting, partialName: SnapshotHeader.partialName(number))
        do {
            thread = try WorkThread(name: "snapshot", isInBackground: true) {
                let result = task.run()
                // `onFinished` captures the owner's objects, so it is released on the owner's
                // thread in any case.
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

    /// Number of parts that wait to be written.
    package var waitingPartCount: Int { waiting.withLock { $0 } }

    /// Passes the next part.
    package func append(_ part: [UInt8]) { append { $0.add(part.span) } }

    /// Passes the next parts, which `lend` makes on the snapshot's thread and adds to its argument.
    package func append(lending lend: @escaping SnapshotTask.Lender) {
        precondition(isOpen, "a part for a snapshot that has ended")
        waiting.withLock { $0 += 1 }
        mailbox.post(.part(lend))
    }

    /// Ends the parts. The row must have been appended before.
    package func finish() { end(.finish) }

    /// Discards the snapshot; `onFinished` is not called.
    package func cancel() { end(.cancel) }

    /// Blocks the calling thread until that of the snapshot has ended and released the directory.
    ///
    /// *Traps*: before ``finish()`` or ``cancel()``, or if called twice.
    package func join() {
        precondition(!isOpen, "the thread of a snapshot waits for its end")
        thread.join()
    }

    private func end(_ order: SnapshotTask.Order) {
        guard isOpen else { return }
        isOpen = false
        mailbox.post(order)
    }
}
