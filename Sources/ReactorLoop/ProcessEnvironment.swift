import CLibUV
import Glibc

/// The environment variables and the working directory of the process.
package enum ProcessEnvironment {
    /// The environment's variables, without entries that are not `NAME=VALUE`. *C*:
    /// `uv_os_environ`.
    ///
    /// *Owner*: any thread, while no thread changes the environment.
    package static var environment: [String: String] {
        var variables: [String: String] = [:]
        var items: UnsafeMutablePointer<uv_env_item_t>?
        var count: Int32 = 0
        guard unsafe uv_os_environ(&items, &count) == 0, let items = unsafe items else {
            return variables
        }
        defer { unsafe uv_os_free_environ(items, count) }
        for index in 0..<Int(count) {
            let name = unsafe String(cString: items[index].name)
            // Of duplicate entries, the first counts, as in `getenv`.
            if variables[name] == nil {
                variables[name] = unsafe String(cString: items[index].value)
            }
        }
        return variables
    }

    /// Removes a variable, so that programs that are started do not have it. *C*: `unsetenv`.
    ///
    /// *Owner*: the first thread of the process, while no other reads the environment.
    package static func remove(_ name: String) { unsafe unsetenv(name) }

    /// The absolute form of `path`, without `.`, `..` and superfluous `/`; symbolic links are not
    /// resolved. *C*: `getcwd`.
    ///
    /// *Throws*: for a relative path, if the working directory was removed.
    package static func absolute(_ path: String) throws(CallFailure) -> String {
        var full = path
        if !path.hasPrefix("/") {
            guard let here = unsafe getcwd(nil, 0) else { throw .system("getcwd", path) }
            full = unsafe String(cString: here) + "/" + path
            unsafe free(here)
        }
        var parts: [Substring] = []
        for part in full.split(separator: "/") where part != "." {
            if part == ".." { _ = parts.popLast() } else { parts.append(part) }
        }
        return "/" + parts.joined(separator: "/")
    }
}
