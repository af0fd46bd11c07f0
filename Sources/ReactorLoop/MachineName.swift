import Glibc

/// The name of the machine on which the process runs.
///
/// *Place*: a configuration that is the same on several machines finds its own entry by it.
package enum MachineName {
    /// Maximum length in bytes: Linux allows 64, POSIX 255.
    private static let bytesMax = 255

    /// The name, with or without a domain, as `hostname` prints it. *C*: `gethostname`.
    package static var current: String {
        var buffer = [CChar](repeating: 0, count: bytesMax + 1)
        let code = unsafe gethostname(&buffer, buffer.count)
        precondition(code == 0, "a buffer of \(buffer.count) bytes has room for every name")
        let bytes = buffer.prefix { $0 != 0 }.map(UInt8.init(bitPattern:))
        return String(decoding: bytes, as: UTF8.self)
    }
}
