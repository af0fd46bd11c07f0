@testable import ReactorLoop
import Testing

@Suite struct ProcessorCountTests {
    @Test("it answers the same for a second without asking the system again")
    func isKept() {
        var count = ProcessorCount { 1 }
        #expect(!count.areSeveral(at: 5_000_000_000))
        count.look = { 8 }
        #expect(!count.areSeveral(at: 5_900_000_000))
        #expect(count.areSeveral(at: 6_100_000_000))
    }
}
