import Glibc

/// The limit of open descriptors of the process.
///
/// *Place*: the daemon raises it at the start, and admits fewer clients than it allows, so that it
/// can always open its own files.
package enum DescriptorLimit {
    /// The current limit. *C*: `getrlimit(RLIMIT_NOFILE)`.
    package static var current: Int {
        var limit = rlimit()
        guard unsafe getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit) == 0 else {
            return 0
        }
        return Int(clamping: limit.rlim_cur)
    }

    /// Raises the limit to `wanted`, or as far as the system allows; never lowers it. Returns the
    /// new limit. *C*: `setrlimit`.
    @discardableResult
    package static func raise(to wanted: Int) -> Int {
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
