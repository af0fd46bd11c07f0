import ReactorWire
import Testing

@Suite("SelectionText")
struct SelectionTextTests {
    private func compare(
        _ field: WireKey..., by comparison: FieldComparison, _ value: WireValue
    ) -> SelectionCondition { .compare(field: field, by: comparison, with: value) }

    @Test("a condition is read as it is meant: not before and, and before or")
    func conditions() throws {
        let busy = compare("phase", by: .equal, "running")
        let early = compare("progress", by: .less, 3)
        let late = compare("progress", by: .greaterOrEqual, -2.5)
        let cases: [(String, SelectionCondition)] = [
            (#"phase == "running""#, busy), ("progress<3", early), (" progress >= -2.5 ", late),
            (#"phase == "running" and progress < 3"#, .all([busy, early])),
            (
                #"phase == 'running' && progress < 3 || progress >= -2.5"#,
                .any([.all([busy, early]), late])
            ),
            (
                #"progress < 3 or phase=="running" and progress>=-2.5"#,
                .any([early, .all([busy, late])])
            ),
            (#"not phase == "running" and !(progress < 3)"#, .all([.not(busy), .not(early)])),
            (
                #"(progress < 3 or progress >= -2.5) and phase == "running""#,
                .all([.any([early, late]), busy])
            ),
            ("endedAt == null", compare("endedAt", by: .equal, .null)),
            ("isOpen != true", compare("isOpen", by: .unequal, true)),
            ("isOpen <= false", compare("isOpen", by: .lessOrEqual, false)),
            ("style.margin > 1.5", compare("style", "margin", by: .greater, 1.5)),
            (
                #"labels["my os"].x[0] == "a\"b\n""#,
                compare("labels", "my os", "x", "0", by: .equal, "a\"b\n")
            ),
            (#"["in"] == 'it''"#.replacing("''", with: "'"), compare("in", by: .equal, "it")),
            ("größe > 1", compare("größe", by: .greater, 1)),
            (
                #"phase in ["a", 'b', 3, null]"#,
                .among(field: ["phase"], values: ["a", "b", 3, .null])
            ),
            (
                "android == 1 or order == 2",
                .any([compare("android", by: .equal, 1), compare("order", by: .equal, 2)])
            ),
        ]
        for (text, expected) in cases {
            #expect(try SelectionText.condition(text) == expected, "\(text)")
        }
    }

    @Test(
        "a fault is reported with its column, what was expected and what was found",
        arguments: [
            ("phase = 3", 7, "==", "\"=\""), ("phase", 6, "in", "the end"),
            ("phase == ", 10, "a number", "the end"),
            ("phase == running", 10, "quotes", "\"running\""),
            ("", 1, "a field", "the end"),
            ("phase == 3 progress > 2", 12, "and, or", "\"progress\""),
            ("(phase == 3", 12, ")", "the end"), ("phase == 'x", 12, "closing quote", "the end"),
            ("phase in 3", 10, "a list", "\"3\""), ("phase in [3", 12, "]", "the end"),
            ("and == 3", 1, "a field", "\"and\""), ("a. == 3", 4, "a field", "\"==\""),
            ("größe é 3", 7, "==", "\"é\""), ("a == 1.2.3", 6, "a number", "\"1.2.3\""),
            ("a[x] == 1", 3, "an index", "\"x\""), ("a == \"\\q\"", 6, "JSON", "\"\\q\""),
            ("3 == a", 1, "a field", "\"3\""), ("not", 4, "a field", "the end"),
        ])
    func faults(text: String, column: Int, expected: String, got: String) {
        let error = #expect(throws: SelectionTextError.self) {
            try SelectionText.condition(text)
        }
        #expect(error?.column == column, "\(text): \(String(describing: error))")
        #expect(error?.expected.contains(expected) == true, "\(String(describing: error))")
        #expect(error?.got == got, "\(String(describing: error))")
        #expect(error?.description.hasPrefix("column \(column): expected ") == true)
    }

    @Test("a condition that is nested too deep is refused, however deep")
    func depth() throws {
        let depth = WireLimits.selectionDepthMax
        func text(_ count: Int) -> String {
            String(repeating: "(", count: count) + "a == 1" + String(repeating: ")", count: count)
        }
        #expect(try SelectionText.condition(text(depth - 1)).depth == 1)
        for count in [depth, 100_000] {
            let error = #expect(throws: SelectionTextError.self) {
                try SelectionText.condition(text(count))
            }
            #expect(error?.column == depth + 1)
        }
        let nots = String(repeating: "!", count: 100_000)
        #expect(throws: SelectionTextError.self) { try SelectionText.condition(nots + "a == 1") }
    }

    @Test("an order names fields and the key, with a sign for its direction")
    func orders() throws {
        let order = try SelectionText.order("-startedAt, +style.margin,@key,-@key,a[\"b,c\"]")
        #expect(
            order == [
                SelectionOrder(field: ["startedAt"], descending: true),
                SelectionOrder(field: ["style", "margin"]), SelectionOrder(),
                SelectionOrder(descending: true), SelectionOrder(field: ["a", "b,c"]),
            ])
        for (text, column) in [("", 1), ("a,", 3), ("a b", 3), ("@kee", 2), ("--a", 2)] {
            let error = #expect(throws: SelectionTextError.self) { try SelectionText.order(text) }
            #expect(error?.column == column, "\(text)")
        }
    }

    @Test("a range of keys has two dots, and each end may be missing")
    func keys() throws {
        #expect(try SelectionText.keys("10..20") == KeyBounds(from: "10", through: "20"))
        #expect(try SelectionText.keys("a b..") == KeyBounds(from: "a b"))
        #expect(try SelectionText.keys("..-1.5") == KeyBounds(through: "-1.5"))
        #expect(try SelectionText.keys("..") == KeyBounds())
        #expect(throws: SelectionTextError.self) { try SelectionText.keys("10") }
    }
}
