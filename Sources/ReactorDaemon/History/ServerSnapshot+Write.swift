import ReactorJournal
import ReactorServer
import ReactorThreads

extension ServerSnapshot {
    /// Writes a snapshot as of a row and waits until it is durable. Blocks the calling thread.
    func write(of row: UInt64, in directory: DataDirectory) throws(JournalError) {
        let result = Guarded<Result<SnapshotHeader, JournalError>?>(nil)
        let bell = Bell()
        let writer = try SnapshotWriter(
            directory, of: row, sequence: sequence,
            deliver: { job in
                job()
                bell.ring()
            }, onFinished: { found in result.withLock { $0 = found } })
        while !isComplete { for part in gather() { writer.append(part) } }
        writer.finish()
        bell.wait()
        if case .failure(let error)? = result.withLock({ $0 }) { throw error }
    }
}
