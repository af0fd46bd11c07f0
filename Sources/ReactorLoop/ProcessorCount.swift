import CLibUV

/// How many processors the process may use, looked up again now and then.
struct ProcessorCount {
    /// Asks the system. *C*: `uv_available_parallelism`, which reads the affinity mask.
    var look: () -> UInt32
    private var count: UInt32 = 0
    private var lookedUpAt: UInt64 = 0

    // because affinity can change while the process runs, and asking is a system call
    private static let validity: UInt64 = 1_000_000_000

    /// Asks through `look`.
    init(look: @escaping () -> UInt32 = { uv_available_parallelism() }) {
        self.look = look
    }

    /// Whether there is more than one at `now`, in nanoseconds.
    mutating func areSeveral(at now: UInt64) -> Bool {
        if count == 0 || now &- lookedUpAt > Self.validity {
            count = look()
            lookedUpAt = now
        }
        return count > 1
    }
}
