import Foundation
import Testing

@testable import ReactorLoop

@Suite("The memory of the process")
struct ProcessMemoryTests {
    @Test("the process's memory grows with what it holds")
    func measured() {
        let before = ProcessMemory.privateByteCount
        let block = [UInt8](repeating: 1, count: 64 << 20)
        let after = ProcessMemory.privateByteCount
        #expect(before > 0 && after - before > 32 << 20 && block.last == 1)
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
            ProcessMemory.groupByteCountMax(of: path, in: home.path)
        }
        #expect(limit("/a/b") == 5_000 && limit("/c") == 4_000 && limit("/d") == nil)
        #expect(limit("/") == nil)
    }
}
