import Glibc
import ReactorLoop

/// A directory of one test's own, mode 0700, removed with what is in it.
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

    /// The path of `name` inside it.
    func path(_ name: String) -> String { path + "/" + name }

    /// The address of a socket inside it.
    func address(_ name: String = "s") throws -> UnixAddress { try UnixAddress(path(name)) }

    /// What is in it.
    var names: [String] { Directory.names(in: path) }
}

/// Reads directories.
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

    /// How many descriptors this process has open; the concurrency runtime may add a few any time.
    static var openDescriptorCount: Int { names(in: "/proc/self/fd").count - 1 }

    /// How many sockets this process has open.
    static var openSocketCount: Int {
        names(in: "/proc/self/fd").count { name in
            var target = [CChar](repeating: 0, count: 7)
            let count = unsafe readlink("/proc/self/fd/" + name, &target, target.count)
            return count == 7 && target == "socket:".utf8.map { CChar($0) }
        }
    }
}
