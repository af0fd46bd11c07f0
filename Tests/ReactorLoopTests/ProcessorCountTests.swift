import Testing

@testable import ReactorLoop

@Suite struct ProcessorCountTests {
    @Test("it answers the same for a second without asking the system again")
    func isKept() {
        var count = ProcessorCount { 1 }
        var answers = [count.areSeveral(at: 5_000_000_000)]
        count.look = { 8 }
        answers.append(count.areSeveral(at: 5_900_000_000))
        answers.append(count.areSeveral(at: 6_100_000_000))
        #expect(answers == [false, false, true])
    }
}
