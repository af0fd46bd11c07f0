import Testing

@Suite("What @Reactor sees of a type")
struct ReactorTypeTests {
    /// Whether the initial state of a reactor with `state` is written by the macro.
    private func isInitialStateMade(_ state: String) -> Bool {
        let source = """
            @Reactor
            struct Shop {
                typealias Action = Order
                \(state)
            }
            """
        return expansion(of: source).contains("var initialState: State")
    }

    @Test("a state is made where all its stored properties have values")
    func initialState() {
        #expect(isInitialStateMade("struct State {}"))
        #expect(isInitialStateMade("struct State { var a = 1, b: Int?; static var c: Int }"))
        #expect(isInitialStateMade("struct State { var a: Int; init() { a = 1 } }"))
        #expect(isInitialStateMade("struct State { var a: Int { 1 } }"))
        #expect(!isInitialStateMade("struct State { var a: Int }"))
        #expect(!isInitialStateMade("struct State { let a: Int? }"))
        #expect(!isInitialStateMade("struct State { var a = 1; init(a: Int) {} }"))
        #expect(!isInitialStateMade("enum State { case open }"))
    }

    @Test("a child in backticks is shown under its plain name")
    func backticks() {
        let source = """
            @Reactor
            struct Shop {
                typealias Action = Order
                struct State {}
                @Child var `repeat` = Counter()
            }
            """
        #expect(expansion(of: source).contains("visitor.child(\"repeat\", self._repeat)"))
    }
}
