import CLibUV
import Glibc

/// The memory of the process, and what it may have.
///
/// *Owner*: any thread. *C*: files in `/proc` and `/sys/fs/cgroup`, which never wait for a disk.
package enum ProcessMemory {
    /// Bytes in RAM; 0 if the system does not show them.
    static var residentByteCount: Int { byteCounts.resident }

    /// Bytes in RAM that the process does not share with files; 0 if the system does not show them.
    package static var privateByteCount: Int {
        let (resident, shared) = byteCounts
        return max(0, resident - shared)
    }

    private static var byteCounts: (resident: Int, shared: Int) {
        let fields = words(of: "/proc/self/statm")
        guard fields.count > 2, let resident = Int(fields[1]), let shared = Int(fields[2]) else {
            return (0, 0)
        }
        let page = Int(sysconf(Int32(_SC_PAGESIZE)))
        return (resident * page, shared * page)
    }

    /// Returns unused memory of the allocator to the system. *Cost*: it visits every free page;
    /// other threads that allocate wait. *C*: `malloc_trim`.
    package static func trim() { _ = malloc_trim(0) }

    /// Bytes that the control group of the process, or a group above it, may have; nil if none has
    /// a limit.
    package static var groupByteCountMax: Int? {
        // Version 2 of control groups has one hierarchy, with number 0.
        guard
            let line = text(of: "/proc/self/cgroup").split(separator: "\n").first(where: {
                $0.hasPrefix("0::/")
            })
        else { return nil }
        return groupByteCountMax(of: String(line.dropFirst("0::".count)), in: "/sys/fs/cgroup")
    }

    /// The same for the group `path` of the hierarchy at `root`.
    static func groupByteCountMax(of path: String, in root: String) -> Int? {
        var names = path.split(separator: "/")
        var found: Int?
        while true {
            let directory = names.isEmpty ? root : root + "/" + names.joined(separator: "/")
            if let limit = words(of: directory + "/memory.max").first.flatMap({ Int($0) }) {
                found = min(found ?? limit, limit)
            }
            if names.popLast() == nil { return found }
        }
    }

    /// Bytes of the machine's memory; nil if the system does not show them.
    package static var machineByteCount: Int? {
        let pages = sysconf(Int32(_SC_PHYS_PAGES))
        return pages > 0 ? pages * Int(sysconf(Int32(_SC_PAGESIZE))) : nil
    }

    private static func text(of file: String) -> String {
        let bytes = (try? FileSystem.bytes(at: file, byteCountMax: 4_096)) ?? []
        return String(decoding: bytes, as: UTF8.self)
    }

    private static func words(of file: String) -> [Substring] {
        text(of: file).split { $0 == " " || $0 == "\n" }
    }
}
