/// The space into which a journal can write further rows: on the disk, or in empty pages of its
/// file, which does not shrink when rows are removed.
package struct JournalSpace: Sendable {
    private let directory: DataDirectory
    private let disk: DiskSpace

    /// Provides access to the space of the journal in `directory`.
    package init(in directory: DataDirectory) {
        self.directory = directory
        disk = DiskSpace(of: directory)
    }

    /// Free bytes above which a full disk counts as usable again; the log may need that many.
    static let roomByteCount = 32 << 20

    /// Whether the journal has room to continue.
    package var hasRoom: Bool {
        disk.hasRoom(for: Self.roomByteCount) || freeByteCount >= Self.roomByteCount
    }

    /// Bytes of empty pages in the file, if the log has its full size; else 0, since a commit goes
    /// to the log first.
    var freeByteCount: Int {
        guard let logByteCount = try? directory.byteCount(of: JournalFile.logName),
            logByteCount >= JournalTuning().grownByteCount,
            let database = try? JournalFile.reader(in: directory),
            let words = try? database.run(
                "looking for room",
                { db in
                    try ["freelist_count", "page_size"].map { name in
                        Int(try db.integer("PRAGMA \(name)") ?? 0)
                    }
                })
        else { return 0 }
        return words.reduce(1, *)
    }
}
