import Testing

@Suite("Diagnostics for authors")
struct MacroDiagnosticTests {
    @Test("a mistake is reported once: the type conforms, so that the compiler adds no error")
    func once() {
        let source = """
            @WireCodable
            struct State {
                var call: () -> Void
            }
            """
        expectDiagnostics(
            source,
            told(
                3, 15,
                "\"call\" is a function, which cannot be coded; keep it outside, or make it a "
                    + "computed property"))
        let expanded = expansion(of: source)
        #expect(expanded.contains("extension State: WireCodable"))
        #expect(expanded.contains("func encode(into writer: inout WireWriter) {\n"))
        #expect(!expanded.contains("self.call"))
    }

    @Test("a class gets no conformance, since an extension cannot add its requirements")
    func object() {
        #expect(!expansion(of: "@WireCodable\nfinal class Box {}").contains("extension"))
    }

    @Test("a type in an encoded part that is not codable is reported by @Reactor alone")
    func nested() {
        let source = """
            @Reactor
            struct Cart {
                enum Action { case add(Item) }
                struct State { var count = 0 }
                struct Item {}
            }
            """
        expectDiagnostics(
            source,
            told(
                5, 12,
                "Item is part of an encoded value, and is not codable; declare it with "
                    + "@WireCodable", fix: "insert '@WireCodable'"))
        #expect(expansion(of: source).contains("extension Cart.Item: WireCodable"))
    }

    @Test(
        "a reactor with a mistake in a function or without a state conforms, an open class does not"
    )
    func reactor() {
        let wrong = """
            @Reactor
            struct Cart {
                enum Action { case add }
                struct State { var count = 0 }
                func mutate(act: Action) -> Mutations<Action> { [act] }
            }
            """
        #expect(expansion(of: wrong).contains("extension Cart: Reactor"))
        let incomplete = "@Reactor\nstruct Cart { enum Action { case add } }"
        #expect(expansion(of: incomplete).contains("extension Cart: Reactor"))
        let open = "@Reactor\nopen class Cart { enum Action { case add }; struct State {} }"
        #expect(!expansion(of: open).contains("extension Cart: Reactor"))
    }
}
