import SwiftSyntax
import SwiftSyntaxBuilder
import Testing

@Suite("Types of initial values")
struct InferredTypeTests {
    @Test(
        "the type of an initial value follows from its text",
        arguments: [
            ("3", "Int"), ("-1.5", "Double"), ("true", "Bool"), (#""a""#, "String"),
            ("[1, 2]", "[Int]"), (#"["a": [1.5]]"#, "[String: [Double]]"),
            ("Config()", "Config"), ("Shop.Config(size: 3)", "Shop.Config"),
            ("Config.init(size: 3)", "Config"), ("Set<Int>()", "Set<Int>"), ("[Int]()", "[Int]"),
            ("[String: Int]()", "[String: Int]"), ("[Cell(), Cell(1)]", "[Cell]"),
            ("3 as UInt8", "UInt8"), ("nil as Int?", "Int?"),
        ])
    func inferred(value: String, type: String) {
        #expect(InferredType(ExprSyntax("\(raw: value)"))?.text == type)
    }

    @Test(
        "a value whose text does not show its type has none",
        arguments: [
            "nil", "[]", "[:]", "origin", "make()", "Cell.first", "Cell.make()", ".first",
            #"[1, "a"]"#, "a + b", "x as? Int", "!isOpen", "Undoable(Config())", "Set([1])",
            "Array(repeating: 0, count: 3)", #"Int("80")"#, #"[Double("1")]"#,
        ])
    func unknown(value: String) {
        #expect(InferredType(ExprSyntax("\(raw: value)")) == nil)
    }

    @Test("only an initializer is uncertain: it may be failable")
    func certainty() {
        #expect(InferredType(ExprSyntax("[1]"))?.isCertain == true)
        #expect(InferredType(ExprSyntax("Int(text)"))?.isCertain == false)
        #expect(InferredType(ExprSyntax("[Cell()]"))?.isCertain == false)
    }

    @Test("the type before a member is a guess")
    func guesses() {
        #expect(InferredType.guess(ExprSyntax("Cell.first")) == "Cell")
        #expect(InferredType.guess(ExprSyntax("Shop.Cell.make(1)")) == "Shop.Cell")
        #expect(InferredType.guess(ExprSyntax("origin")) == nil)
        #expect(InferredType.guess(ExprSyntax("Keyed(pairs)")) == "Keyed<Type, Type>")
        #expect(InferredType.guess(ExprSyntax(#"Int("80")"#)) == "Int?")
    }
}
