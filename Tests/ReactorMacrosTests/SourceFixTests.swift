import Testing

@Suite("Fix-its")
struct SourceFixTests {
    @Test("a fix-it keeps the comments, the indentation and the line of the unchanged code")
    func trivia() {
        expectFix(
            """
            enum House {
            \t@Reactor
            \tclass Shop {  // the shop
            \t\t/// What is asked.
            \t\tenum Action { case open }
            \t\tstruct State {}
            \t\tfunc mutate(action: Action) /* now */ async /* or later */ -> Mutations<Action> {
            \t\t\t.none
            \t\t}
            \t}
            }
            """,
            told(
                3, 8, "a reactor's rules are fixed when it is mounted; declare it as a final class",
                fix: "insert 'final'"),
            told(
                7, 41,
                "mutate may not be async: an action is decided at once; give async work to "
                    + "Mutations(async:)", fix: "remove 'async'"),
            fixed: """
                enum House {
                \t@Reactor
                \tfinal class Shop {  // the shop
                \t\t/// What is asked.
                \t\tenum Action { case open }
                \t\tstruct State {}
                \t\tfunc mutate(action: Action) /* now */ -> Mutations<Action> {
                \t\t\t.none
                \t\t}
                \t}
                }
                """)
    }
}
