import CXXHash
import Glibc

/// The identity of a file, independent of its name.
struct FileIdentity: Equatable, Sendable {
    private let device: UInt64
    private let inode: UInt64

    /// The identity of an open file; nil for an invalid descriptor. *C*: `statx`.
    init?(of descriptor: Int32) { self.init(of: "", in: descriptor, follows: false) }

    /// The identity of the file at a path; nil if there is none. *C*: `statx`.
    init?(at path: String) { self.init(of: path, in: AT_FDCWD, follows: true) }

    /// The identity of the file at a path, and the nanosecond since 1970 at which names in it last
    /// changed.
    static func changing(at path: String) -> (identity: FileIdentity, time: Int64)? {
        var (device, inode, time): (UInt64, UInt64, Int64) = (0, 0, 0)
        let answer = unsafe reactor_file_identity(AT_FDCWD, path, 1, &device, &inode, &time)
        return answer == 0 ? (FileIdentity(device: device, inode: inode), time) : nil
    }

    private init(device: UInt64, inode: UInt64) {
        self.device = device
        self.inode = inode
    }

    /// The identity of `name` in an open directory; nil if there is none. *C*: `statx`.
    init?(of name: String, in directory: Int32, follows: Bool = false) {
        var (device, inode): (UInt64, UInt64) = (0, 0)
        let answer = unsafe reactor_file_identity(
            directory, name, follows ? 1 : 0, &device, &inode, nil)
        guard answer == 0 else { return nil }
        self.device = device
        self.inode = inode
    }
}
