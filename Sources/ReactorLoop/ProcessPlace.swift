import CLibUV
import Glibc

/// What a process is started with besides its arguments: its environment and its directory.
public enum ProcessPlace {
    /// The environment's variables, without those that are no `NAME=VALUE`. *C*: `uv_os_environ`.
    ///
    /// *Owner*: any thread, while none changes the environment.
    public static var environment: [String: String] {
        var variables: [String: String] = [:]
        var items: UnsafeMutablePointer<uv_env_item_t>?
        var count: Int32 = 0
        guard unsafe uv_os_environ(&items, &count) == 0, let items = unsafe items else {
            return variables
        }
        defer { unsafe uv_os_free_environ(items, count) }
        for index in 0..<Int(count) {
            let name = unsafe String(cString: items[index].name)
            // The first of a name is the one that `getenv` answers.
            if variables[name] == nil {
                variables[name] = unsafe String(cString: items[index].value)
            }
        }
        return variables
    }

    /// `path` from the root, without `.`, `..` and superfluous `/`; symbolic links stay as they
    /// are. *C*: `getcwd`.
    ///
    /// *Throws*: for a relative path in a directory that was removed.
    public static func absolute(_ path: String) throws(CallFailure) -> String {
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
