import Testing

@testable import ReactorWire

@Suite("Chains of migrations")
struct WireMigrationsTests {
    private func chain(_ versions: Int...) -> WireMigrations {
        versions.reduce(.none) { $0.from($1) { _ in } }
    }

    @Test("a chain without a gap that ends before today's version has no problem")
    func complete() {
        #expect(WireMigrations.none.problem(today: 1) == nil)
        #expect(chain(1).problem(today: 2) == nil)
        #expect(chain(1, 2, 3).problem(today: 4) == nil)
        // The support of versions 1 and 2 has ended.
        #expect(chain(3, 4).problem(today: 5) == nil)
    }

    @Test(
        "a gap, a step twice or out of order, a step beyond today's version are each reported",
        arguments: [
            ([1, 3], 4, "has a step from version 3, and none from 2 before it: add `.from(2)`"),
            ([1, 1], 3, "has two steps from version 1: remove one"),
            ([2, 1], 4, "put the steps in ascending order"),
            ([3, 4, 2], 6, "put the steps in ascending order"),
            ([1, 2], 2, "and a step from version 2: raise `wireVersion` to 3"),
            ([1, 2], 4, "has version 4, and no step from version 3: add `.from(3)`"),
            ([], 3, "has version 3, and no step from version 2: add `.from(2)`"),
            ([0], 1, "has a step from version 0: the first version is 1"),
            ([], 0, "has version 0: the first version is 1"),
            ([1], 1, "has version 1, and a step from version 1"),
        ])
    func problems(_ versions: [Int], _ today: Int, _ text: String) throws {
        let chain = versions.reduce(WireMigrations.none) { $0.from($1) { _ in } }
        let problem = try #require(chain.problem(today: today))
        #expect(problem.contains(text), "\(problem)")
    }

    @Test("former names are added to a chain at either end")
    func formerNames() {
        let chain = WireMigrations.formerly("A").from(1) { _ in }.formerly("B", "C")
        #expect(chain.formerNames == ["A", "B", "C"])
        #expect(chain.steps.map(\.version) == [1])
    }

    @Test("the steps from a version are those from it on, and none without its step")
    func steps() {
        let chain = chain(2, 3, 4)
        #expect(chain.steps(from: 3)?.map(\.version) == [3, 4])
        #expect(chain.steps(from: 1) == nil)
    }

    @Test("a chain is applied to a value from a version on, and needs the step from it")
    func applied() throws {
        let chain = WireMigrations.from(1) { try $0.rename("a", to: "b") }
            .from(2) { try $0.set("c", to: 3) }
        #expect(try chain.apply(to: ["a": 1], from: 1) == ["b": 1, "c": 3])
        #expect(try chain.apply(to: ["b": 1], from: 2) == ["b": 1, "c": 3])
        #expect(throws: MigratedValue.Problem("there is no step from version 3")) {
            try chain.apply(to: ["b": 1], from: 3)
        }
    }
}
