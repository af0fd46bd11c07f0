import Testing

@Suite("The check of a field's type")
struct WireGateTests {
    @Test("types that the macro does not know are named through an alias that a codable type has")
    func fields() {
        let text = expansion(
            of: """
                @WireCodable
                struct State {
                    var count: Int
                    var due: Date?
                    var jobs: [String: Shop.Job] = [:]
                }
                """)
        #expect(text.contains("typealias _WireForm_1 = WireFoundationForm<Date>.Checked?"))
        #expect(text.contains("typealias _WireForm_2 = [String: WireForm<Shop.Job>.Checked]"))
        #expect(text.contains("line: 3)\n\n    private typealias _WireForm_1"))
        #expect(!text.contains("_WireForm_0"))
        for use in [
            "(self.due as _WireForm_1).encode(into: &writer)", "var value1: _WireForm_1?",
            "cursor.field(name, _WireForm_1.self, into: &value1, in: bytes)",
            "cursor.expected(\"due\", _WireForm_1.self, into: &value1, in: bytes, &map)",
            "cursor.required(value1 as _WireForm_1?, \"due\", at: start)",
            "(self.jobs as _WireForm_2).encode(at: path.dropFirst(), into: &writer)",
            "WireSchema.field(\"jobs\", _WireForm_2.self, hasDefault: true)",
        ] {
            #expect(text.contains(use), "\(use)")
        }
    }

    @Test("the values of cases are checked as well")
    func cases() {
        let text = expansion(
            of: """
                @WireCodable
                enum Action { case add(Job), move(Int, Job), edit(job: Job, to: Foundation.Date) }
                """)
        for use in [
            "typealias _WireForm_add_0 = WireForm<Job>.Checked",
            "typealias _WireForm_edit_1 = WireFoundationForm<Foundation.Date>.Checked",
            "(value0 as _WireForm_add_0).encode(into: &writer)",
            "cursor.expected(_WireForm_add_0.self, inside: \"add\", in: bytes)",
            "value = .add(try _WireForm_add_0.decode(bytes, &cursor))",
            "cursor.element(_WireForm_move_1.self, 1, of: 2, in: bytes, &items)",
            "payload: .single(_WireForm_add_0.wireSchema)",
        ] {
            #expect(text.contains(use), "\(use)")
        }
    }

    @Test("types that mention a generic parameter have no check")
    func parameters() {
        let text = expansion(
            of: """
                @WireCodable
                struct Box<Item: WireCodable> {
                    var item: Item, parts: [Item.Part], names: [Item: Int], pair: Pair<Item, Job>
                }
                """)
        #expect(text.contains("extension"))
        #expect(!text.contains("Form<"))
    }

    @Test("the keys and the arguments of generic types are checked")
    func arguments() {
        let text = expansion(
            of: """
                @WireCodable
                struct State {
                    var undo: Undoable<Date>
                    var load: AsyncLoad<Job, Never>
                    var names: [URL: Int], floors: [String: Int], ids: Dictionary<UUID, Job>
                    var keyed: Keyed<Floor, Int>
                    var pair: Pair<Int, Int>?
                    var page: Foundation.URL
                    var boxes: [Shop.Box<Int>]
                }
                """)
        let forms = [
            "Undoable<WireFoundationForm<Date>.Checked>",
            "AsyncLoad<WireForm<Job>.Checked, Never>", "[WireKeyForm<URL>.Checked: Int]",
            "Dictionary<WireFoundationKeyForm<UUID>.Checked, WireForm<Job>.Checked>",
            "Keyed<KeyedKeyForm<Floor>.Checked, Int>", "WireForm<Pair<Int, Int>>.Checked?",
            "WireFoundationForm<Foundation.URL>.Checked", "[WireForm<Shop.Box<Int>>.Checked]",
        ]
        for form in forms {
            #expect(text.contains(" = \(form)\n"), "\(form)")
        }
        #expect(text.contains("[String: Int]") && !text.contains("Form<String>"))
        #expect(text.contains("typealias _WireValues = (_WireForm_0, _WireForm_1, _WireForm_2, "))
        #expect(text.contains("let field0: _WireForm_0 = try cursor.required("))
        #expect(text.contains("Self.init(_wireValues:)(("))
    }

    @Test("a type that an initializer shows is checked: a field of another type does not compile")
    func inferred() {
        let text = expansion(
            of: """
                @WireCodable
                struct State { var port = Int(text), ids = Set<Job>(), config = Config() }
                """)
        #expect(text.contains("typealias _WireForm_0 = Int\n"))
        #expect(text.contains("typealias _WireForm_1 = Set<WireForm<Job>.Checked>\n"))
        #expect(text.contains("typealias _WireForm_2 = WireForm<Config>.Checked\n"))
    }
}
