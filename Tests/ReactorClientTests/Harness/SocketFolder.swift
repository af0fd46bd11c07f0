import Foundation
import Glibc

/// A directory for one test with a short path, removed with its content.
final class SocketFolder: Sendable {
    let path: String

    init() {
        // A socket's path has at most 107 bytes.
        var template = Array("/tmp/reactor-client-XXXXXX".utf8CString)
        guard unsafe mkdtemp(&template) != nil else {
            preconditionFailure("mkdtemp: \(errno), expected /tmp to be writable")
        }
        path = String(decoding: template.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }

    deinit { try? FileManager.default.removeItem(atPath: path) }

    /// The path of the socket inside it.
    var socket: String { path + "/s" }
}
