import Glibc

/// Identifies a file independently of its name.
package struct FileIdentity: Hashable, Sendable {
    /// The device of the file.
    package let device: UInt64
    /// The number of the file on that device.
    package let inode: UInt64

    /// The file at `path`, without following a link; `nil` if there is none. *C*: `lstat`.
    package init?(at path: String) {
        var status = stat()
        guard unsafe lstat(path, &status) == 0 else { return nil }
        self.init(status)
    }

    init(_ status: stat) {
        device = UInt64(status.st_dev)
        inode = UInt64(status.st_ino)
    }
}
