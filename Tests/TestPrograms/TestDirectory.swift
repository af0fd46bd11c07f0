import Foundation
import Glibc

/// A directory of one test's own, mode 0700, removed with all that is in it.
package final class TestDirectory: Sendable {
    package let path: String

    package init() {
        // because a socket's path is at most 107 bytes long, it is made where paths are short
        var template = Array("/tmp/reactord-test-XXXXXX".utf8CString)
        guard unsafe mkdtemp(&template) != nil else {
            preconditionFailure("mkdtemp: \(errno), expected /tmp to be writable")
        }
        path = String(decoding: template.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }

    deinit { try? FileManager.default.removeItem(atPath: path) }

    /// The path of `name` inside it.
    package func path(_ name: String) -> String { path + "/" + name }

    /// Writes `text` into the file `name`, and says where that is.
    package func write(_ text: String, to name: String) throws -> String {
        let path = path(name)
        try Data(text.utf8).write(to: URL(filePath: path))
        return path
    }

    /// What the file `name` holds; nothing if there is none.
    package func read(_ name: String) -> String {
        (try? String(contentsOfFile: path(name), encoding: .utf8)) ?? ""
    }
}
