import Foundation
import Glibc

/// A directory for one test, mode 0700; removed with its content.
package final class TestDirectory: Sendable {
    package let path: String

    package init() {
        // In /tmp, because a socket's path has at most 107 bytes.
        var template = Array("/tmp/reactord-test-XXXXXX".utf8CString)
        guard unsafe mkdtemp(&template) != nil else {
            preconditionFailure("mkdtemp: \(errno), expected /tmp to be writable")
        }
        path = String(decoding: template.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }

    deinit { try? FileManager.default.removeItem(atPath: path) }

    /// The path of `name` in the directory.
    package func path(_ name: String) -> String { path + "/" + name }

    /// Writes `text` into the file `name` and returns its path.
    package func write(_ text: String, to name: String) throws -> String {
        let path = path(name)
        try Data(text.utf8).write(to: URL(filePath: path))
        return path
    }

    /// The bytes of every file of the data directory `name`, except those without data: the lock,
    /// which has the number of the last process, SQLite's index of the log, and an empty log.
    package func dataFiles(_ name: String = "data") throws -> [String: [UInt8]] {
        var files: [String: [UInt8]] = [:]
        for file in try FileManager.default.contentsOfDirectory(atPath: path(name))
        where file != "journal.lock" && !file.hasSuffix("-shm") {
            files[file] = try [UInt8](Data(contentsOf: URL(filePath: path(name) + "/" + file)))
        }
        if files["journal.sqlite-wal"]?.isEmpty ?? false { files["journal.sqlite-wal"] = nil }
        return files
    }

    /// The content of the file `name`; empty if there is none.
    package func read(_ name: String) -> String {
        (try? String(contentsOfFile: path(name), encoding: .utf8)) ?? ""
    }
}
