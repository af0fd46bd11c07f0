import Glibc

/// A copy of a history that a daemon sends to another daemon of its cluster, file by file.
///
///     let copy = try HistoryCopy(of: directory)
///     for file in copy.files { send(try copy.read(file.name, at: 0, count: file.byteCount)) }
///     try copy.remove()
///
/// *Place*: at the sender; ``ReceivedCopy`` is its other end. The files are in a directory inside that
/// of the history, whose user may have no right to make one elsewhere. *Owner*: any one thread, also
/// while another writes the journal. *Cost*: as ``JournalBackup``.
package final class HistoryCopy {
    /// The position at which the copy ends.
    package let end: JournalPosition
    /// The files, with their bytes.
    package let files: [File]
    private let directory: DataDirectory

    /// A file of a history.
    package struct File: Equatable, Sendable {
        /// Its name in the directory.
        package let name: String
        /// Its size.
        package let byteCount: Int
    }

    private static let folder = "copy.sent"
    /// Bytes of the disk that a copy leaves to the daemon.
    private static let roomMin = 64 << 20

    /// Copies the history in `directory`, and verifies the copy. Calls `isCancelled` often, and fails
    /// once that returns true.
    ///
    /// *Throws*: for every read or write error. Nothing remains then.
    package init(
        of directory: DataDirectory, isCancelled: @escaping () -> Bool = { false }
    ) throws(JournalError) {
        let path = directory.path(Self.folder)
        try Self.removeLeftovers(in: directory)
        let byteCount = try directory.names().filter(Self.isFile).reduce(0) {
            $0 + directory.occupiedByteCount(of: $1)
        }
        // A full disk would end the daemon that sends.
        if let free = directory.freeByteCount, free < UInt64(byteCount + Self.roomMin) {
            throw .system(SystemFailure(call: "statvfs", path: path, code: ENOSPC))
        }
        end = try JournalBackup(
            of: directory, into: NewDirectory(at: path), beginsEpoch: false,
            isCancelled: isCancelled
        ).end
        self.directory = try DataDirectory(at: path)
        var files: [File] = []
        for name in try self.directory.names() where Self.isFile(name) {
            files.append(File(name: name, byteCount: try self.directory.byteCount(of: name) ?? 0))
        }
        self.files = files
    }

    /// Reads up to `count` bytes of a file; fewer at its end.
    package func read(
        _ name: String, at offset: Int, count: Int
    ) throws(JournalError) -> [UInt8] {
        try directory.read(name, at: offset, count: count)
    }

    /// Removes the copy.
    package func remove() throws(JournalError) { try NewDirectory.remove(directory) }

    /// Removes what a process that was killed has left of copies that it sent or received.
    package static func removeLeftovers(in directory: DataDirectory) throws(JournalError) {
        for name in [folder, folder + ".partial", ReceivedCopy.folder] {
            try NewDirectory.removeAny(at: directory.path(name))
        }
    }

    /// Whether a copy has a file of this name: the journal and snapshots.
    static func isFile(_ name: String) -> Bool {
        name == JournalFile.name || SnapshotHeader.number(of: name) != nil
    }
}
