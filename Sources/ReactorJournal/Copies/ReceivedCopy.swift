/// A copy of a history that arrives from another daemon of the cluster, and then replaces the history
/// of a data directory.
///
///     let copy = try ReceivedCopy(for: directory)
///     try copy.begin("journal.sqlite", byteCount: 8_192)
///     try copy.append(bytes)
///     let end = try copy.install(as: instance)
///
/// *Place*: at the receiver of a ``HistoryCopy``. *Shape*: the directory keeps its own history until
/// the copy is complete and verified. A process that is killed while it replaces the files leaves a
/// directory without a journal, which needs a copy again. *Owner*: any one thread.
package final class ReceivedCopy {
    private let directory: DataDirectory
    private let copy: DataDirectory
    /// The file that arrives, and the number of bytes that it lacks.
    private var file: (name: String, missing: UInt64)?

    static let folder = "copy.received"

    /// Prepares the reception of a copy for `directory`, which no daemon uses.
    package init(for directory: DataDirectory) throws(JournalError) {
        self.directory = directory
        let path = directory.path(Self.folder)
        try NewDirectory.removeAny(at: path)
        copy = try DataDirectory(at: path)
    }

    /// Begins a file of `byteCount` bytes, after the last one is complete.
    ///
    /// *Throws*: if a history has no such file, or if bytes of the last one are missing.
    package func begin(_ name: String, byteCount: UInt64) throws(JournalError) {
        try end()
        guard HistoryCopy.isFile(name) else { throw mismatch(name, "a file of a history", name) }
        try copy.makeFile(name)
        file = (name, byteCount)
    }

    /// Appends bytes to the file that was begun.
    ///
    /// *Throws*: if it has fewer.
    package func append(_ bytes: [UInt8]) throws(JournalError) {
        guard let current = file, UInt64(bytes.count) <= current.missing else {
            throw mismatch(file?.name ?? "", "its end", "\(bytes.count) bytes more")
        }
        try copy.append(bytes, to: current.name)
        file?.missing -= UInt64(bytes.count)
    }

    /// Verifies the complete copy, which has the identity `instance`, and puts it in the place of the
    /// directory's history. Returns where it ends.
    ///
    /// Calls `onProgress` often meanwhile.
    ///
    /// *Throws*: if the copy is damaged, or of another history; the directory has its own then.
    package func install(
        as instance: JournalInstance, onProgress: () -> Void = {}
    ) throws(JournalError) -> JournalPosition {
        let isCancelled = {
            onProgress()
            return false
        }
        try end()
        let reader = try JournalReader(copy)
        guard reader.instance == instance else {
            throw mismatch(JournalFile.name, "the history \(instance)", "\(reader.instance)")
        }
        let end = try reader.verifyRest(isCancelled: isCancelled)
        if let fault = try SnapshotStore(copy).choose(isCancelled: isCancelled).passedOver.first {
            throw fault
        }
        for name in try directory.names() where Self.isReplaced(name) { try directory.remove(name) }
        // The journal comes last: a directory without one needs a copy.
        let names = try copy.names().filter(HistoryCopy.isFile)
        for name in names.sorted(by: >) {
            try copy.synchronize(name)
            try copy.move(name, into: directory)
        }
        try directory.synchronize()
        try discard()
        return end
    }

    /// Removes what has arrived.
    package func discard() throws(JournalError) { try NewDirectory.remove(copy) }

    private func end() throws(JournalError) {
        guard let file else { return }
        guard file.missing == 0 else {
            throw mismatch(file.name, "\(file.missing) bytes more", "its end")
        }
        self.file = nil
    }

    private func mismatch(_ name: String, _ expected: String, _ got: String) -> JournalError {
        .damage(JournalDamage(file: copy.path(name), row: nil, expected: expected, got: got))
    }

    /// Whether a file belongs to the history that is replaced.
    private static func isReplaced(_ name: String) -> Bool {
        name.hasPrefix("journal.") && name != DataDirectory.lockName
            || name.hasPrefix("snapshot-") || name == ReleasedRow.fileName
    }
}
