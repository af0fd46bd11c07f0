import Testing

@Suite("The analysis of a reactor's type")
struct ReactorTypeTests {
    /// Whether the macro generates the initial state of a reactor with `state`.
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

    @Test("an initial state is generated if all stored properties have values")
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

    @Test("a child in backticks has its plain name")
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

    /// Whether the macro creates a reactor with `body` without arguments.
    private func isMade(_ body: String, as kind: String = "struct Shop") -> Bool {
        let source = """
            @Reactor
            \(kind) {
                typealias Action = Order
                struct State: WireCodable {}
                \(body)
            }
            """
        let expanded = expansion(of: source)
        let hasFunction = expanded.contains("static func makeForMirror() -> Self")
        let conforms = expanded.contains("MirrorableReactor {")
        #expect(hasFunction == conforms, "\(body)")
        return conforms
    }

    @Test(
        "a reactor is created without arguments if its properties or an initializer allow it",
        arguments: [
            "", "let a = 1", "var a = 1, b: Int?", "static let a: Int = b", "var a: Int { 1 }",
            "var a: Int = 1 { didSet {} }", "lazy var a = 1", "let (a, b) = (1, 2)",
            "@Child var a = Counter()", "let a: Int; init() { a = 1 }",
            "let a: Int; public init(a: Int = 1) { self.a = a }", "init(_ a: Int...) {}",
            "init(a: Int = 1) {}; init() {}", "init(a: Int) {}; init(b: Int = 1, c: Int = 2) {}",
            "private init() {}", "@inlinable init() {}",
        ])
    func made(_ body: String) {
        #expect(isMade(body))
        #expect(isMade(body, as: "final class Shop"))
    }

    @Test(
        "a reactor that needs arguments is mirrored through an instance",
        arguments: [
            "let a: Int", "var a: Int", "let a: Int?", "@Child var a: Counter",
            "@Wrapped var a: Int?", "init(a: Int) {}", "var a = 1; init(a: Int, b: Int = 1) {}",
            "init?() {}", "init() throws {}", "init() async {}", "@MainActor init() {}",
            "@available(*, unavailable) init() {}", "init<T>(a: T = 1) {}",
            "init(a: some Sequence = []) {}", "init() throws {}; init(a: Int = 1) {}",
            "init(a: Int = 1) {}; init(b: Int = 1) {}", "#if DEBUG\nlet a: Int\n#endif",
        ])
    func notMade(_ body: String) {
        #expect(!isMade(body))
        #expect(!isMade(body, as: "final class Shop"))
    }

    @Test("a class with a superclass or protocols needs a visible initializer")
    func inherited() {
        #expect(!isMade("", as: "final class Shop: Store"))
        #expect(isMade("init() {}", as: "final class Shop: Store"))
        #expect(isMade("", as: "struct Shop: Sendable"))
    }
}
