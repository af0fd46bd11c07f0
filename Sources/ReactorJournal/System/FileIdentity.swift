import CXXHash
import Glibc

/// Which file it is, whatever it is called.
struct FileIdentity: Equatable, Sendable {
    private let device: UInt64
    private let inode: UInt64

    /// Of an open file; nil if it is none. *C*: `statx`.
    init?(of descriptor: Int32) { self.init(of: "", in: descriptor, follows: false) }

    /// Of what a path leads to; nil if that is nothing. *C*: `statx`.
    init?(at path: String) { self.init(of: path, in: AT_FDCWD, follows: true) }

    /// Of what a path leads to, with the nanosecond since 1970 at which names in it changed last.
    static func changing(at path: String) -> (identity: FileIdentity, time: Int64)? {
        var (device, inode, time): (UInt64, UInt64, Int64) = (0, 0, 0)
        let answer = unsafe reactor_file_identity(AT_FDCWD, path, 1, &device, &inode, &time)
        return answer == 0 ? (FileIdentity(device: device, inode: inode), time) : nil
    }

    private init(device: UInt64, inode: UInt64) {
        self.device = device
        self.inode = inode
    }

    /// Of `name` in an open directory; nil if there is none. *C*: `statx`.
    init?(of name: String, in directory: Int32, follows: Bool = false) {
        var (device, inode): (UInt64, UInt64) = (0, 0)
        let answer = unsafe reactor_file_identity(
            directory, name, follows ? 1 : 0, &device, &inode, nil)
        guard answer == 0 else { return nil }
        self.device = device
        self.inode = inode
    }
}
