import Glibc

/// How many descriptors the process may have open.
///
/// *Place*: the daemon raises it at start and admits fewer clients than it allows, so that files of
/// its own can always be opened.
public enum DescriptorLimit {
    /// The limit in force. *C*: `getrlimit(RLIMIT_NOFILE)`.
    public static var current: Int {
        var limit = rlimit()
        guard unsafe getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit) == 0 else {
            return 0
        }
        return Int(clamping: limit.rlim_cur)
    }

    /// Raises the limit to `wanted`, or as far as the system lets us; never lowers it. Answers what
    /// is in force then. *C*: `setrlimit`.
    @discardableResult
    public static func raise(to wanted: Int) -> Int {
        var limit = rlimit()
        guard unsafe getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit) == 0 else {
            return 0
        }
        let target = min(rlim_t(clamping: wanted), limit.rlim_max)
        if target > limit.rlim_cur {
            limit.rlim_cur = target
            _ = unsafe setrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit)
        }
        return current
    }
}
