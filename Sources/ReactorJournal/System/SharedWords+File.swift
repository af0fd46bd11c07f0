// Imported first: Swift may otherwise attribute types such as timespec to this module.
import CXXHash
import Glibc
package import ReactorBytes

extension SharedWords {
    /// Maps the words in the file `name`, shared with the next process that opens `directory`:
    /// stored values survive the end of the process, but not of the machine. A missing file is
    /// created with zeros.
    ///
    /// *C*: `openat`, `pwrite`, `mmap`.
    package convenience init(
        of name: String, in directory: DataDirectory, count: Int
    ) throws(JournalError) {
        let path = directory.path(name)
        let byteCount = count * MemoryLayout<UInt64>.size
        let file = unsafe openat(
            directory.descriptor, name, O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0o600)
        guard file >= 0 else { throw .system(.now("openat", path)) }
        defer { close(file) }
        var status = stat()
        guard unsafe fstat(file, &status) == 0 else { throw .system(.now("fstat", path)) }
        if status.st_size < byteCount {
            // A store to a mapped page without room on the disk would end the process.
            try Self.fill(file, at: path, with: [UInt8](repeating: 0, count: byteCount))
        }
        let pages = unsafe mmap(
            nil, byteCount, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0)
        guard let pages = unsafe pages, unsafe pages != MAP_FAILED else {
            throw .system(.now("mmap", path))
        }
        unsafe self.init(
            at: pages.bindMemory(to: UInt64.self, capacity: count), count: count
        ) {
            unsafe munmap(pages, byteCount)
        }
    }

    private static func fill(
        _ file: Int32, at path: String, with bytes: [UInt8]
    ) throws(JournalError) {
        var done = 0
        while done < bytes.count {
            let count = unsafe bytes.withUnsafeBytes {
                unsafe pwrite(
                    file, $0.baseAddress.map { unsafe $0 + done }, bytes.count - done, done)
            }
            if count < 0, errno == EINTR { continue }
            guard count > 0 else { throw .system(.now("pwrite", path)) }
            done += count
        }
    }
}
