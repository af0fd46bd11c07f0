import Testing

@Suite("The attributes of fields and cases, at places that are refused")
struct WireAliasTests {
    @Test("an alias that is not a literal, or at a wrong place, is refused")
    func aliases() {
        expectDiagnostics(
            #"""
            @WireCodable
            struct State { @WireAlias("a\(1)") var count: Int }
            """#,
            told(2, 27, "a name is read when compiling; write it as a plain string literal"))
        expectDiagnostics(
            """
            @WireCodable
            enum Action { @WireAlias("x") case open, close }
            """,
            told(
                2, 15,
                "@WireAlias renames one declaration; declare each on a separate line"))
        expectDiagnostics(
            """
            @WireAlias("x") struct State {}
            """,
            told(
                1, 1,
                "@WireAlias renames a stored property or an enum case; put it on one of these"))
    }

    @Test("names of removed fields belong to a struct, and must not be names of fields")
    func removed() {
        expectDiagnostics(
            """
            @WireCodable
            enum Action { @WireRemoved("x") case open }
            """,
            told(2, 15, "@WireRemoved names fields that a struct had once; put it on the struct"))
        expectDiagnostics(
            """
            @WireCodable
            @WireRemoved("count")
            struct State { var count: Int }
            """,
            told(
                3, 8,
                "the wire name \"count\" belongs to more than one property; rename one, or remove "
                    + "the alias"))
    }

    @Test("the mark of the daemon's own actions belongs to a case")
    func daemonOnly() {
        expectDiagnostics(
            """
            @WireInternal struct State {}
            """,
            told(
                1, 1,
                "@WireInternal marks actions that only the daemon sends; put it on an enum case"))
    }

    @Test("X118: @WireSecret on anything but a field or a case is refused with a remedy")
    func secretElsewhere() {
        expectDiagnostics(
            """
            @WireSecret struct State {}
            """,
            told(
                1, 1,
                "@WireSecret hides a stored property, or the values of an enum case, from the log; "
                    + "put it on one of these"))
    }
}
