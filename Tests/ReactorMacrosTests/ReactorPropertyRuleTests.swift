import Testing

@Suite("The properties that @Reactor refuses")
struct ReactorPropertyRuleTests {
    /// A reactor with `members` beside the required types.
    private func reactor(_ members: String) -> String {
        """
        @Reactor
        struct Shop {
            enum Action { case open }
            struct State { var isOpen = false }
            \(members)
        }
        """
    }

    /// Checks that the member `before` gets the diagnostic `message` at `column`, with a fix-it
    /// that turns it into `after`.
    private func expectFix(
        _ before: String, _ column: Int, _ message: String, _ title: String, after: String,
        sourceLocation: SourceLocation = #_sourceLocation
    ) {
        ReactorMacrosTests.expectFix(
            reactor(before), told(5, column, message, fix: title), fixed: reactor(after),
            sourceLocation: sourceLocation)
    }

    private let middleware = "write var middleware: [Middleware<Self>]"
    private let version = "write static var version: UInt32"

    @Test("F27: middleware that is not a list would never be called, and gets a fix-it")
    func noList() {
        expectFix(
            "var middleware: Middleware<Shop> { log }", 21,
            "middleware that is Middleware<Shop> would never be read; \(middleware)",
            "write '[Middleware<Self>]'", after: "var middleware: [Middleware<Self>] { log }")
        expectFix(
            "let middleware: Middleware<Shop> = log", 21,
            "middleware that is Middleware<Shop> would never be read; \(middleware)",
            "write '[Middleware<Self>]'", after: "let middleware: [Middleware<Self>] = [log]")
        expectFix(
            "let middleware = Middleware<Shop> { _, _, _ in }", 22,
            "middleware that is one Middleware would never be read; \(middleware)",
            "write a list", after: "let middleware = [Middleware<Shop> { _, _, _ in }]")
        expectFix(
            "var sagas: [Saga<Self>]?", 16,
            "sagas that is [Saga<Self>]? would never be read; write var sagas: [Saga<Self>]",
            "remove '?'", after: "var sagas: [Saga<Self>]")
        expectDiagnostics(
            reactor("var sagas: () -> [Saga<Self>] = { [] }"),
            told(
                5, 16,
                "sagas that is () -> [Saga<Self>] would never be read; write var sagas: "
                    + "[Saga<Self>]"))
    }

    @Test("F27: middleware of another reactor would never be called, and is refused")
    func foreign() {
        expectFix(
            "var middleware: [Middleware<House>] { [] }", 33,
            "middleware that is [Middleware<House>] would never be read; \(middleware)",
            "write 'Self'", after: "var middleware: [Middleware<Self>] { [] }")
        expectFix(
            "var sagas: Array<Saga<House>> { [] }", 27,
            "sagas that is Array<Saga<House>> would never be read; write var sagas: [Saga<Self>]",
            "write 'Self'", after: "var sagas: Array<Saga<Self>> { [] }")
    }

    @Test("a static or private list would never be read, nor would a list of functions")
    func words() {
        for word in ["static", "private", "fileprivate"] {
            expectFix(
                "\(word) var sagas: [Saga<Shop>] { [] }", 5,
                "sagas that is \(word) would never be read; remove the word", "remove '\(word)'",
                after: "var sagas: [Saga<Shop>] { [] }")
        }
        expectFix(
            "func middleware() -> [Middleware<Shop>] { [] }", 10,
            "middleware that is a function would never be called; \(middleware)",
            "make it a property", after: "var middleware: [Middleware<Shop>] { [] }")
    }

    @Test("a version must be a UInt32 of the type; a plain number is refused")
    func versions() {
        expectFix(
            "static let version = 2", 26, "version that is Int would never be read; \(version)",
            "insert ': UInt32'", after: "static let version: UInt32 = 2")
        expectFix(
            "static var version: Int { 2 }", 25,
            "version that is Int would never be read; \(version)", "write 'UInt32'",
            after: "static var version: UInt32 { 2 }")
        expectFix(
            "let version: UInt32 = 2", 5,
            "version of an instance would never be read; \(version)", "insert 'static'",
            after: "static let version: UInt32 = 2")
        expectFix(
            "var isReacting: Bool { true }", 5,
            "isReacting of an instance would never be read; write static var isReacting: Bool",
            "insert 'static'", after: "static var isReacting: Bool { true }")
        expectFix(
            "static var documentation: StaticString { \"\" }", 31,
            "documentation that is StaticString would never be read; write static var "
                + "documentation: String",
            "write 'String'", after: "static var documentation: String { \"\" }")
    }

    @Test("a property with a function does not replace a method of the protocol")
    func callables() {
        let own = "that is a property would never be called; write"
        expectDiagnostics(
            reactor("var start: (State) -> Mutations<Action> = { _ in .none }"),
            told(5, 9, "start \(own) func start(state: State) -> Mutations<Mutation>"))
        expectDiagnostics(
            reactor("let reduce = { (state: inout State, mutation: Action) in }"),
            told(5, 9, "reduce \(own) func reduce(state: inout State, mutation: Mutation)"))
        expectDiagnostics(
            reactor("let transform: (Transform<Action>) -> Transform<Action>"),
            told(
                5, 9,
                "transform \(own) func transform(action: Transform<Action>) -> Transform<Action> "
                    + "or func transform(mutation: Transform<Mutation>) -> Transform<Mutation> or "
                    + "func transform(state: Transform<State>) -> Transform<State>"))
    }

    @Test("correct members, and the author's own, are left alone")
    func fitting() {
        expectDiagnostics(
            reactor(
                """
                var middleware: [Middleware<Self>] { [log] }
                let sagas: [Saga<Shop>] = []
                static let version: UInt32 = 3
                static var isReacting = false
                static let documentation = "sells"
                """))
        expectDiagnostics(
            reactor(
                """
                let middleware = [Middleware<Shop> { _, _, _ in }]
                var sagas: House.Sagas { [] }
                let version: String
                let documentation: String
                let start: [String]
                private let transform: (Int) -> Int
                let mutate: (Action) -> Mutations<Action>
                func mutate(action: Action) -> Mutations<Action> { mutate(action) }
                private func sagas(of name: String) -> [String] { [] }
                """))
    }
}
