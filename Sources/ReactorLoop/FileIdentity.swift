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

/// The status of a file, for the check that no other user can change it.
struct FileStatus {
    private let status: stat

    /// The status of an open file; `nil` for an invalid descriptor. *C*: `fstat`.
    init?(of descriptor: Int32) {
        var status = stat()
        guard unsafe fstat(descriptor, &status) == 0 else { return nil }
        self.init(status)
    }

    init(_ status: stat) { self.status = status }

    /// Whether it is a regular file of this user that has no second name, and that no other user
    /// may write to. A second name is a hard link, by which a write would change another file.
    var isOfThisUserAlone: Bool {
        status.st_mode & S_IFMT == S_IFREG && status.st_uid == geteuid() && status.st_nlink <= 1
            && status.st_mode & (S_IWGRP | S_IWOTH) == 0
    }
}
