import Foundation
import Testing

@testable import ReactorLoop

@Suite struct MachineNameTests {
    @Test("the machine's name is the one that the kernel has")
    func current() throws {
        let kernel = try String(contentsOfFile: "/proc/sys/kernel/hostname", encoding: .utf8)
        #expect(MachineName.current + "\n" == kernel)
    }
}
