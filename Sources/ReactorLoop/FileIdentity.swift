import Glibc

/// Which file a path leads to, independent of its name.
public struct FileIdentity: Hashable, Sendable {
    /// The device that holds it.
    public let device: UInt64
    /// Its number on that device.
    public let inode: UInt64

    /// The file at `path` itself, a link not followed; nil when none can be seen. *C*: `lstat`.
    public init?(at path: String) {
        var status = stat()
        guard unsafe lstat(path, &status) == 0 else { return nil }
        self.init(status)
    }

    init(_ status: stat) {
        device = UInt64(status.st_dev)
        inode = UInt64(status.st_ino)
    }
}
