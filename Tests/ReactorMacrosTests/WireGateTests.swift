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

    @Test("generic parameters, keys and unknown generic types have no check")
    func parameters() {
        let text = expansion(
            of: """
                @WireCodable
                struct Box<Item: WireCodable> {
                    var item: Item, parts: [Item.Part], names: [Key: Int], pair: Pair<Item, Job>
                }
                """)
        #expect(text.contains("extension"))
        #expect(!text.contains("WireForm"))
    }

    @Test("a type that an initializer shows is checked: a field of another type does not compile")
    func inferred() {
        let text = expansion(
            of: """
                @WireCodable
                struct State { var port = Int("80"), ids = Set<Job>(), config = Config() }
                """)
        #expect(text.contains("typealias _WireForm_0 = Int\n"))
        #expect(text.contains("typealias _WireForm_1 = Set<WireForm<Job>.Checked>\n"))
        #expect(text.contains("typealias _WireForm_2 = WireForm<Config>.Checked\n"))
    }
}
