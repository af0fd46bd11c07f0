import Testing

@Suite("The path of #path")
struct PathMacroTests {
    @Test(
        "F64: the names of a key path are those of the slice path",
        arguments: [
            (#"#path(\App.shop.cart)"#, #"["shop", "cart"]"#),
            (#"#path(\App.shop.$rooms)"#, #"["shop", "rooms"]"#),
            (#"#path(\App.`repeat`)"#, #"["repeat"]"#),
            (#"#path(\App.$repeat)"#, #"["repeat"]"#),
            (#"#path(\App.self)"#, "[]"),
            (#"#path(\Outer.App.shop)"#, #"["shop"]"#),
            (#"#path(\Holder<Int>.shop)"#, #"["shop"]"#),
            (#"#path(\App.shop, \.address?.City)"#, #"["shop", "address", "City"]"#),
        ])
    func names(_ source: String, _ names: String) {
        expectExpansion("let path = \(source)", "let path = SlicePath(\(names))")
    }

    @Test("a key path that is not a literal, and a key inside it, are refused")
    func refused() {
        expectDiagnostics(
            "let path = #path(stored)",
            told(
                1, 18,
                "a path is read when compiling; write the key path here: #path(\\App.shop)"))
        expectDiagnostics(
            #"let path = #path(\App.shop, \.items["a"])"#,
            told(
                1, 36,
                "a path in the source names properties only; add a key with appending(_:)"))
    }
}
