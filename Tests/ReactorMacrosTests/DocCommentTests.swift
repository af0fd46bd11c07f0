import Testing

@Suite("Documentation comments")
struct DocCommentTests {
    /// The documentation that `@Reactor` extracts from `comment`.
    private func documentation(_ comment: String) -> String? {
        let source = """
            \(comment)
            @Reactor
            struct Shop {
                typealias Action = Order
                typealias State = Stock
                var initialState: State { Stock() }
            }
            """
        let lines = expansion(of: source).split(separator: "\n")
        guard let index = lines.firstIndex(where: { $0.contains("var documentation") }) else {
            return nil
        }
        return lines[index + 1].split(separator: "\"").dropFirst().joined(separator: "\"")
    }

    @Test("the first paragraph is joined to one line")
    func lines() {
        let comment = "///\n/// Sells tea\n///  and cake.\n///\n/// To nobody."
        #expect(documentation(comment) == "Sells tea and cake.")
    }

    @Test("a block comment is read without its stars")
    func block() {
        let comment = "/**\n * Sells tea\n * and cake.\n *\n * More.\n */"
        #expect(documentation(comment) == "Sells tea and cake.")
        #expect(documentation("/** Sells tea. */") == "Sells tea.")
    }

    @Test("an ordinary comment is not documentation")
    func others() {
        #expect(documentation("// Sells tea.") == nil)
    }
}
