import Glibc

/// The sizes of the files in a data directory, for metrics.
///
/// *Owner*: any thread but the loop's: a disk that does not answer delays the caller.
/// *C*: `fstatat`, `fstatvfs`.
package struct HistorySize: Sendable, Equatable {
    /// Bytes of the file with the rows.
    package let rowByteCount: Int
    /// Bytes of the log of the latest commits.
    package let logByteCount: Int
    /// Bytes of all snapshots.
    package let snapshotByteCount: Int
    /// Seconds since the newest snapshot was written; nil if there is none.
    package let snapshotAge: Double?
    /// Seconds since the last backup was complete; nil if none was made of this directory.
    package let backupAge: Double?
    /// Bytes of disk that the directory occupies, without its reserve; nil if it cannot be read.
    package let occupiedByteCount: Int?
    /// Bytes that the process may still write to the disk; nil if the system does not show them.
    package let freeByteCount: UInt64?

    /// Reads the sizes; a file that cannot be examined counts as empty.
    package init(of directory: DataDirectory) {
        func byteCount(_ name: String) -> Int { (try? directory.byteCount(of: name)) ?? 0 }
        rowByteCount = byteCount(JournalFile.name)
        logByteCount = byteCount(JournalFile.logName)
        let numbers = (try? SnapshotStore(directory).numbers()) ?? []
        snapshotByteCount = numbers.reduce(0) { $0 + byteCount(SnapshotHeader.name($1)) }
        snapshotAge = numbers.first.flatMap { directory.age(of: SnapshotHeader.name($0)) }
        backupAge = directory.age(of: DataDirectory.backupMarkName)
        occupiedByteCount = DiskSpace(of: directory).occupiedByteCount
        freeByteCount = directory.freeByteCount
    }
}
