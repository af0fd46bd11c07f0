import Glibc

/// Which file it is, whatever it is called.
struct FileIdentity: Equatable, Sendable {
    private let device: dev_t
    private let inode: ino_t

    /// Of what `stat` has answered.
    init(_ status: stat) {
        device = status.st_dev
        inode = status.st_ino
    }

    /// Of an open file; nil if it is none. *C*: `fstat`.
    init?(of descriptor: Int32) {
        var status = stat()
        guard unsafe fstat(descriptor, &status) == 0 else { return nil }
        self.init(status)
    }
}
