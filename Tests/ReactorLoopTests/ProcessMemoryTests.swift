import Foundation
import Testing

@testable import ReactorLoop

@Suite("The memory of the process")
struct ProcessMemoryTests {
    @Test("the process's memory grows with what it holds")
    func measured() async {
        // Other tests of the same process would free memory between the two figures.
        await #expect(processExitsWith: .success) {
            let before = ProcessMemory.privateByteCount
            let block = [UInt8](repeating: 1, count: 64 << 20)
            let after = ProcessMemory.privateByteCount
            #expect(before > 0 && after - before > 32 << 20 && block.last == 1)
        }
    }

    @Test("the smallest limit of a control group and the groups above it applies")
    func group() throws {
        let home = TemporaryDirectory()
        for (path, text) in [("a/b", "max\n"), ("a", "5000\n"), ("c", "4000\n")] {
            try FileManager.default.createDirectory(
                atPath: home.path(path), withIntermediateDirectories: true)
            try text.write(
                toFile: home.path(path + "/memory.max"), atomically: true, encoding: .utf8)
        }
        func limit(_ path: String) -> Int? {
            ProcessMemory.groupByteCountMax(of: "0::\(path)\n", in: home.path)
        }
        #expect(limit("/a/b") == 5_000 && limit("/c") == 4_000 && limit("/d") == nil)
        #expect(limit("/") == nil)
    }

    @Test("a control group of version 1 has its limit in another file, and no limit is a high one")
    func olderGroup() throws {
        let home = TemporaryDirectory()
        for (path, text) in [
            ("memory/a/b", "\(Int.max / 4_096 * 4_096)\n"), ("memory/a", "5000\n"),
            ("unified/a", "7\n"),
        ] {
            try FileManager.default.createDirectory(
                atPath: home.path(path), withIntermediateDirectories: true)
            try text.write(
                toFile: home.path(path + "/memory.limit_in_bytes"), atomically: true,
                encoding: .utf8)
        }
        func limit(_ groups: String) -> Int? {
            ProcessMemory.groupByteCountMax(of: groups, in: home.path)
        }
        #expect(limit("8:pids:/a\n4:memory:/a/b\n0::/\n") == 5_000)
        #expect(limit("4:cpu,memory:/a\n") == 5_000 && limit("4:memory:/c\n") == nil)
        #expect(limit("4:memory:\n8:pids:/a\n") == nil && limit("") == nil)
    }
}
