import CLibUV
import Glibc

/// How many processors the process may use, and the machine has, looked up again now and then.
struct ProcessorCount {
    /// Asks the system how many the process may use. *C*: `uv_available_parallelism`, which reads
    /// the affinity mask.
    var look: () -> UInt32
    /// Asks the system how many there are. *C*: `sysconf(_SC_NPROCESSORS_ONLN)`.
    var lookAtMachine: () -> Int
    private var own: UInt32 = 0
    private var all = 0
    private var lookedUpAt: UInt64 = 0

    // because affinity can change while the process runs, and asking is a system call
    private static let validity: UInt64 = 1_000_000_000

    /// Asks through `look` and `lookAtMachine`.
    init(
        look: @escaping () -> UInt32 = { uv_available_parallelism() },
        lookAtMachine: @escaping () -> Int = { sysconf(Int32(_SC_NPROCESSORS_ONLN)) }
    ) {
        self.look = look
        self.lookAtMachine = lookAtMachine
    }

    /// Whose processors there are at `now`, in nanoseconds.
    mutating func share(at now: UInt64) -> Share {
        if own == 0 || now &- lookedUpAt > Self.validity {
            own = look()
            all = lookAtMachine()
            lookedUpAt = now
        }
        if own > 1 { return .several }
        return all > 1 ? .oneOfSeveral : .theOnly
    }

    /// What part of the machine's processors the process may use.
    enum Share {
        case several
        /// One, while peers may run on another.
        case oneOfSeveral
        /// The machine has no other.
        case theOnly
    }
}
