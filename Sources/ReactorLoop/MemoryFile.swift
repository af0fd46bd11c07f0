import CLibUV
import Glibc

/// A file in memory, by which a process gives bytes to another that inherits its descriptor.
///
///     let file = try MemoryFile(bytes)
///     …                                              // file.descriptor is inherited
///     let bytes = try MemoryFile.read(descriptor)    // in the other process
///
/// *Owner*: any one thread; the descriptor is closed with the object.
package final class MemoryFile {
    /// The file's descriptor, close-on-exec.
    package let descriptor: Int32

    /// Makes a file with `bytes`. *C*: `memfd_create`, `write`.
    package init(_ bytes: [UInt8]) throws(LoopError) {
        descriptor = unsafe reactor_memory_file("handover")
        guard descriptor >= 0 else { throw .call(.system("memfd_create", "handover")) }
        var done = 0
        while done < bytes.count {
            let count = unsafe bytes.withUnsafeBytes { buffer in
                unsafe write(
                    descriptor, buffer.baseAddress.map { unsafe $0 + done }, bytes.count - done)
            }
            if count < 0, errno == EINTR { continue }
            guard count > 0 else { throw .call(.system("write", "handover")) }
            done += count
        }
    }

    deinit { if descriptor >= 0 { close(descriptor) } }

    /// Reads the whole file of an inherited `descriptor`, and closes it. *C*: `lseek`, `pread`.
    package static func read(_ descriptor: Int32) throws(LoopError) -> [UInt8] {
        defer { close(descriptor) }
        // Not `fstat`: where this file imports CLibUV, `stat` would be CLibUV's in the whole module.
        let byteCount = lseek(descriptor, 0, SEEK_END)
        guard byteCount >= 0 else {
            throw .call(.system("lseek", "descriptor \(descriptor)"))
        }
        var bytes = [UInt8](repeating: 0, count: byteCount)
        var done = 0
        while done < bytes.count {
            let count = unsafe bytes.withUnsafeMutableBytes { buffer in
                unsafe pread(
                    descriptor, buffer.baseAddress.map { unsafe $0 + done }, buffer.count - done,
                    done)
            }
            if count < 0, errno == EINTR { continue }
            guard count > 0 else { throw .call(.system("pread", "descriptor \(descriptor)")) }
            done += count
        }
        return bytes
    }
}
