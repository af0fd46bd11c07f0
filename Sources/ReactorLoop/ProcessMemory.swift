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

    /// Lets the allocator take large blocks from the system, and return each one when it is freed.
    /// By default, it keeps blocks of up to 32 MiB for later, so that the memory of one snapshot stays.
    /// *C*: `mallopt`, `M_MMAP_THRESHOLD`.
    package static func returnLargeBlocks() { _ = mallopt(M_MMAP_THRESHOLD, 1 << 20) }

    /// Returns unused memory of the allocator to the system. *Cost*: it visits every free page;
    /// other threads that allocate wait. *C*: `malloc_trim`.
    package static func trim() { _ = malloc_trim(0) }

    /// Keeps the kernel from dumping the memory, and every user except root from reading it. *C*:
    /// `prctl(PR_SET_DUMPABLE)`.
    static func hide() { _ = reactor_set_dumpable(0) }

    /// Bytes that the control group of the process, or a group above it, may have; nil if none has
    /// a limit.
    package static var groupByteCountMax: Int? {
        groupByteCountMax(of: text(of: "/proc/self/cgroup"), in: "/sys/fs/cgroup")
    }

    /// The same for a process whose `/proc/self/cgroup` has this content; the hierarchies are below
    /// `root`.
    static func groupByteCountMax(of groups: String, in root: String) -> Int? {
        var found: [Int?] = []
        for line in groups.split(separator: "\n") {
            let fields = line.split(separator: ":", maxSplits: 2, omittingEmptySubsequences: false)
            guard fields.count == 3, fields[2].hasPrefix("/") else { continue }
            // Version 2 has one hierarchy, with number 0; version 1 has one for each controller.
            if fields[0] == "0", fields[1].isEmpty {
                found.append(byteCountMax(of: fields[2], "memory.max", in: root))
            } else if fields[1].split(separator: ",").contains("memory") {
                found.append(
                    byteCountMax(of: fields[2], "memory.limit_in_bytes", in: root + "/memory"))
            }
        }
        return found.compactMap(\.self).min()
    }

    /// The smallest number in the file `name` of a group and the groups above it.
    private static func byteCountMax(
        of path: Substring, _ name: String, in root: String
    ) -> Int? {
        var names = path.split(separator: "/")
        var found: Int?
        while true {
            let directory = names.isEmpty ? root : root + "/" + names.joined(separator: "/")
            // Without a limit, version 1 shows nearly the highest number.
            if let limit = words(of: directory + "/" + name).first.flatMap({ Int($0) }),
                limit < .max / 4
            {
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
        let bytes = (try? FileSystem.bytes(at: file, byteCountMax: 64 << 10)) ?? []
        return String(decoding: bytes, as: UTF8.self)
    }

    private static func words(of file: String) -> [Substring] {
        text(of: file).split { $0 == " " || $0 == "\n" }
    }
}
