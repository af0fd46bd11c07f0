import Foundation
import Glibc

/// A directory of one test's own with a short path, removed with all that is in it.
final class SocketFolder: Sendable {
    let path: String

    init() {
        // because a socket's path is at most 107 bytes long
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
