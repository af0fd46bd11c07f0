import CLibUV
import Glibc

/// The number of processors of the process and of the machine, refreshed periodically.
struct ProcessorCount {
    /// Asks the system for the number that the process may use. *C*: `uv_available_parallelism`,
    /// which reads the affinity mask.
    var look: () -> UInt32
    /// Asks the system for the number in the machine. *C*: `sysconf(_SC_NPROCESSORS_ONLN)`.
    var lookAtMachine: () -> Int
    private var own: UInt32 = 0
    private var all = 0
    private var lookedUpAt: UInt64 = 0

    // The affinity can change at run time, and asking is a system call.
    private static let validity: UInt64 = 1_000_000_000

    /// Makes a counter that asks with `look` and `lookAtMachine`.
    init(
        look: @escaping () -> UInt32 = { uv_available_parallelism() },
        lookAtMachine: @escaping () -> Int = { sysconf(Int32(_SC_NPROCESSORS_ONLN)) }
    ) {
        self.look = look
        self.lookAtMachine = lookAtMachine
    }

    /// The share at `now`, in nanoseconds.
    mutating func share(at now: UInt64) -> Share {
        if own == 0 || now &- lookedUpAt > Self.validity {
            own = look()
            all = lookAtMachine()
            lookedUpAt = now
        }
        if own > 1 { return .several }
        return all > 1 ? .oneOfSeveral : .theOnly
    }

    /// The share of the machine's processors that the process may use.
    enum Share {
        case several
        /// One of several processors; peers may run on another.
        case oneOfSeveral
        /// The only one of the machine.
        case theOnly
    }
}
