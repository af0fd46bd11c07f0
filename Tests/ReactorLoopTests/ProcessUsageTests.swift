import Glibc
import ReactorLoop
import Testing

struct ProcessUsageTests {
    @Test("the figures show memory, time and descriptors of this process")
    func figures() {
        let before = ProcessUsage()
        #expect(before.residentBytes > 1 << 20)
        #expect(before.descriptorCount >= 3 && before.descriptorCount <= before.descriptorCountMax)
        var descriptors: [Int32] = []
        for _ in 0..<100 { descriptors.append(dup(STDERR_FILENO)) }
        let after = ProcessUsage()
        for descriptor in descriptors { close(descriptor) }
        // Other tests open and close some at the same time.
        #expect(after.descriptorCount > before.descriptorCount)
        #expect(after.processorNanoseconds >= before.processorNanoseconds)
    }
}
