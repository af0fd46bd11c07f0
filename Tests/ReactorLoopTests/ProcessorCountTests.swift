import Testing

@testable import ReactorLoop

@Suite struct ProcessorCountTests {
    @Test("it answers the same for a second without asking the system again")
    func isKept() {
        var count = ProcessorCount(look: { 1 }, lookAtMachine: { 1 })
        var answers = [count.share(at: 5_000_000_000)]
        count.look = { 8 }
        answers.append(count.share(at: 5_900_000_000))
        answers.append(count.share(at: 6_100_000_000))
        #expect(answers == [.theOnly, .theOnly, .several])
    }

    @Test("one processor of several is told from the only one")
    func pinned() {
        var count = ProcessorCount(look: { 1 }, lookAtMachine: { 2 })
        #expect(count.share(at: 1) == .oneOfSeveral)
    }
}
