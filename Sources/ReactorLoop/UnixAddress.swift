import CLibUV
import Glibc

/// The path of a Unix-domain socket, checked to fit the system's address structure.
///
/// *Place*: made once from configuration or arguments; listeners bind it, connections connect to
/// it.
package struct UnixAddress: Hashable, Sendable, CustomStringConvertible {
    /// Maximum length of a path in bytes: `sun_path` has 108, of which the last is the terminating
    /// NUL.
    package static let pathBytesMax = 107

    /// The path, 1 to ``pathBytesMax`` bytes of UTF-8 without NUL.
    package let path: String

    /// Checks `path`, since libuv and `bind` would silently cut a longer one.
    ///
    /// *Throws*: ``LoopError/pathIsEmpty``, `pathHoldsNUL` or `pathIsTooLong`.
    package init(_ path: String) throws(LoopError) {
        guard !path.isEmpty else { throw .pathIsEmpty }
        guard !path.utf8.contains(0) else { throw .pathHoldsNUL(path: path) }
        let byteCount = path.utf8.count
        guard byteCount <= Self.pathBytesMax else {
            throw .pathIsTooLong(path: path, byteCount: byteCount)
        }
        self.path = path
    }

    /// The path itself.
    package var description: String { path }

    /// The path of the socket's directory; `.` if the path contains none.
    package var directory: String {
        guard let slash = path.lastIndex(of: "/") else { return "." }
        return slash == path.startIndex ? "/" : String(path[..<slash])
    }

    /// The socket's name within its directory.
    package var name: String {
        guard let slash = path.lastIndex(of: "/") else { return path }
        return String(path[path.index(after: slash)...])
    }

    /// Lends the address in the system's form.
    func withSocketAddress<Result>(
        _ body: (UnsafePointer<sockaddr>, socklen_t) -> Result
    ) -> Result {
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        unsafe withUnsafeMutableBytes(of: &address.sun_path) { field in
            unsafe field.copyBytes(from: path.utf8)
        }
        return unsafe withUnsafePointer(to: address) { pointer in
            unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                unsafe body($0, socklen_t(MemoryLayout<sockaddr_un>.size))
            }
        }
    }
}
