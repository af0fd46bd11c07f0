import Glibc

/// The process's use of the machine at a moment.
///
/// *Owner*: any thread. *C*: `getrusage`, and files in `/proc/self`, which never wait for a disk.
package struct ProcessUsage: Sendable, Equatable {
    /// Bytes of memory that the process has in RAM.
    package let residentBytes: UInt64
    /// Processor time so far, in nanoseconds.
    package let processorNanoseconds: UInt64
    /// Number of open descriptors.
    package let descriptorCount: Int
    /// Number of descriptors that the process may have open.
    package let descriptorCountMax: Int

    /// Reads the figures. A figure that the system does not show is 0.
    package init() {
        residentBytes = UInt64(ProcessMemory.residentByteCount)
        var usage = rusage()
        let code = unsafe getrusage(__rusage_who_t(RUSAGE_SELF.rawValue), &usage)
        processorNanoseconds =
            code == 0 ? Self.nanoseconds(usage.ru_utime) + Self.nanoseconds(usage.ru_stime) : 0
        // The directory itself is open while it is read.
        descriptorCount = max(0, FileSystem.names(in: "/proc/self/fd").count - 1)
        descriptorCountMax = DescriptorLimit.current
    }

    private static func nanoseconds(_ time: timeval) -> UInt64 {
        UInt64(time.tv_sec) * 1_000_000_000 + UInt64(time.tv_usec) * 1_000
    }
}
