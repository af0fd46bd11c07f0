import Testing

@testable import ReactorCore

@Suite("Failures after an outcome")
struct LateFailureTests {
    @Test(
        "R100: an action whose chain is cut in many places is reported once, and logged each time")
    func once() {
        let tree = Tree(ReactorGroup([]), epoch: 1)
        let (first, second) = (Origin(client: 1, ordinal: 1), Origin(client: 1, ordinal: 2))
        for origin in [first, first, second, second] { tree.turn.reportLoop("cut", of: origin) }
        #expect(tree.turn.complaints.count == 4)
        #expect(tree.turn.failures.map(\.origin) == [first, second])
    }
}
