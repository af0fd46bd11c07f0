import Testing

@testable import ReactorLoop

@Suite struct ProcessorCountTests {
    @Test("the count is kept for a second without asking the system again")
    func isKept() {
        var count = ProcessorCount(look: { 1 }, lookAtMachine: { 1 })
        var answers = [count.share(at: 5_000_000_000)]
        count.look = { 8 }
        answers.append(count.share(at: 5_900_000_000))
        answers.append(count.share(at: 6_100_000_000))
        #expect(answers == [.theOnly, .theOnly, .several])
    }

    @Test("being pinned to one of several processors differs from having a single one")
    func pinned() {
        var count = ProcessorCount(look: { 1 }, lookAtMachine: { 2 })
        #expect(count.share(at: 1) == .oneOfSeveral)
    }
}
