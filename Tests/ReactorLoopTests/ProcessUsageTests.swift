import Glibc
import ReactorLoop
import Testing

struct ProcessUsageTests {
    @Test("the figures show memory, time and descriptors of this process")
    func figures() async {
        // In a separate process: other tests open and close descriptors.
        await #expect(processExitsWith: .success) {
            let before = ProcessUsage()
            #expect(before.residentBytes > 1 << 20)
            #expect(
                before.descriptorCount >= 3 && before.descriptorCount <= before.descriptorCountMax)
            for _ in 0..<100 { #expect(dup(STDERR_FILENO) >= 0) }
            let after = ProcessUsage()
            #expect(after.descriptorCount >= before.descriptorCount + 90)
            #expect(after.processorNanoseconds >= before.processorNanoseconds)
        }
    }
}
