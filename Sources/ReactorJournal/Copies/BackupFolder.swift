/// The dated backups in one folder, of which the newest are kept.
///
/// *Place*: `reactorctl backup --keep`. A backup is a directory with a name of ``isName(_:)``; other
/// files are left alone. It counts, and may be removed, only if it is complete and undamaged: all its
/// checksums are right, and its history ends as that of a backup, so that no daemon has used it.
/// *Owner*: any one thread. *Cost*: reads every backup once.
package struct BackupFolder {
    private let path: String

    /// The result of a removal.
    package struct Result: Equatable, Sendable {
        /// Names of the removed backups, newest first.
        package var removed: [String] = []
        /// Number of good backups that remain.
        package var keptCount = 0
        /// A line for each directory that was not counted and not removed, and for each failure.
        package var problems: [String] = []
    }

    private static let prefix = "backup-"
    private static let suffix = "Z"
    /// The last part of the name of a directory that is being removed.
    private static let removing = ".removing"

    /// The folder at an absolute path.
    package init(at path: String) { self.path = path }

    /// The name of a backup made at a time in ISO 8601, such as `2026-11-24T20:24:00.000Z`.
    package static func name(at time: String) -> String {
        let parts = time.split(separator: ".", maxSplits: 1)
        return prefix + (parts.first ?? "").filter { $0 != "-" && $0 != ":" } + suffix
    }

    /// Whether a file's name is that of a dated backup: `backup-20261124T202400Z`.
    package static func isName(_ name: String) -> Bool {
        guard name.hasPrefix(prefix), name.hasSuffix(suffix), name.utf8.count == 23 else {
            return false
        }
        let time = name.dropFirst(prefix.count).dropLast()
        let isDate = time.prefix(8).allSatisfy { ("0"..."9").contains($0) }
        return isDate && time.dropFirst(8).first == "T"
            && time.suffix(6).allSatisfy { ("0"..."9").contains($0) }
    }

    /// The path of a file in the folder.
    package func path(of name: String) -> String { path + "/" + name }

    /// Removes good backups beyond the newest `count` good ones, of which `made` has been verified.
    ///
    /// A damaged backup is neither counted nor removed. Stops once `isCancelled` returns true.
    package func removeOlder(
        keeping count: Int, made: String, isCancelled: () -> Bool = { false }
    ) -> Result {
        var result = Result()
        for name in names() where Self.isName(name) {
            guard !isCancelled() else { break }
            do throws(JournalError) {
                if name != made { try check(name) }
                if result.keptCount < max(1, count) {
                    result.keptCount += 1
                } else {
                    try remove(name)
                    result.removed.append(name)
                }
            } catch {
                result.problems.append("\(name) is neither counted nor removed: \(error)")
            }
        }
        removeUnfinished()
        return result
    }

    /// The names in the folder, newest backups first.
    private func names() -> [String] { NewDirectory.names(in: path).sorted(by: >) }

    /// *Throws*: unless the directory is a complete and undamaged backup.
    private func check(_ name: String) throws(JournalError) {
        let report = try JournalDoctor(at: path(of: name)).examine()
        if let damage = report.findings.first { throw damage }
        guard let last = report.last, last.epoch == 0 else {
            let file = path(of: name) + "/" + JournalFile.name
            throw .missing(file: file, reason: "its end is not that of a backup")
        }
    }

    // The name changes first, so that a half removed directory is no backup.
    private func remove(_ name: String) throws(JournalError) {
        let (old, new) = (path(of: name), path(of: name) + Self.removing)
        try NewDirectory.move(old, to: new)
        try NewDirectory.remove(DataDirectory(at: new))
    }

    /// Removes what a killed process has left of a removal.
    private func removeUnfinished() {
        for name in names()
        where name.hasSuffix(Self.removing)
            && Self.isName(String(name.dropLast(Self.removing.count)))
        {
            if let directory = try? DataDirectory(at: path(of: name)) {
                try? NewDirectory.remove(directory)
            }
        }
    }
}
