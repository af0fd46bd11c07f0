import Glibc
import ReactorLoop

/// A directory for one test, mode 0700, removed with its content.
final class TemporaryDirectory {
    let path: String

    init() {
        var template = Array("/tmp/reactor-loop-XXXXXX".utf8CString)
        guard unsafe mkdtemp(&template) != nil else { preconditionFailure("mkdtemp: \(errno)") }
        path = String(decoding: template.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }

    deinit {
        for name in names { _ = unsafe unlinkat(AT_FDCWD, path + "/" + name, 0) }
        for name in names { _ = unsafe unlinkat(AT_FDCWD, path + "/" + name, AT_REMOVEDIR) }
        _ = unsafe unlinkat(AT_FDCWD, path, AT_REMOVEDIR)
    }

    /// The path of `name` in the directory.
    func path(_ name: String) -> String { path + "/" + name }

    /// The address of a socket in the directory.
    func address(_ name: String = "s") throws -> UnixAddress { try UnixAddress(path(name)) }

    /// The names in the directory.
    var names: [String] { Directory.names(in: path) }
}

/// Functions that list directories and descriptors.
enum Directory {
    static func names(in path: String) -> [String] {
        guard let stream = unsafe opendir(path) else { return [] }
        defer { unsafe closedir(stream) }
        var names: [String] = []
        while let entry = unsafe readdir(stream) {
            let name = unsafe withUnsafePointer(to: &entry.pointee.d_name) { field in
                unsafe field.withMemoryRebound(to: CChar.self, capacity: 256) {
                    unsafe String(cString: $0)
                }
            }
            if name != ".", name != ".." { names.append(name) }
        }
        return names
    }

    /// Number of open descriptors of this process; the concurrency runtime may open some at any
    /// time.
    static var openDescriptorCount: Int { names(in: "/proc/self/fd").count - 1 }

    /// Number of open sockets of this process.
    static var openSocketCount: Int {
        names(in: "/proc/self/fd").count { name in
            var target = [CChar](repeating: 0, count: 7)
            let count = unsafe readlink("/proc/self/fd/" + name, &target, target.count)
            return count == 7 && target == "socket:".utf8.map { CChar($0) }
        }
    }
}
