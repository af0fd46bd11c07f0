import SwiftSyntax
import SwiftSyntaxMacros

/// A stored property of a struct, or an associated value of a case.
struct WireField {
    var name: WireBytes
    /// The name as in the source, perhaps in backticks.
    var identifier: String
    /// The type as in the source.
    var type: String
    var defaultValue: WireDefault?
    var aliases: [WireBytes] = []
    var doc = ""
    /// Whether the log hides its value.
    var isSecret = false
    /// Whether other modules may read and set the field.
    var isPublic = false
    /// The check of a type that the macro does not know.
    var gate: WireGate?

    /// The type as the base of a member access.
    var typeBase: String {
        let isPlain = type.allSatisfy { $0.isLetter || $0.isNumber || "_.<>[], :?".contains($0) }
        return isPlain && !type.hasPrefix("any ") && !type.hasPrefix("some ") ? type : "(\(type))"
    }

    /// The type in generated code: the compiler reports a type with a mistake only once.
    var checkedType: String { gate?.name ?? type }

    /// The type in generated code, as the base of a member access.
    var form: String { gate?.name ?? typeBase }

    /// The field's value `expression`, of the type in generated code.
    func formed(_ expression: String) -> String {
        gate.map { "(\(expression) as \($0.name))" } ?? expression
    }
}

extension WireField {
    /// The field in the form of a `@Pulse`: its value with its count.
    var pulsing: WireField {
        var field = self
        field.identifier = "_\(name.text)"
        field.type = "Pulse<\(type)>"
        field.gate?.form = "Pulse<\(gate?.form ?? type)>"
        field.isPublic = false
        if let text = defaultValue?.text {
            field.defaultValue = .expression("Pulse(wrappedValue: \(text))")
        }
        return field
    }
}

/// The declared default of a field.
enum WireDefault {
    /// An expression with the same meaning everywhere.
    case literal(String)
    /// Any other expression. It gets a member of its own: a local name of the generated code could
    /// capture one of its names, and an inlinable body may not refer to all declarations.
    case expression(String)

    /// The expression as in the source.
    var text: String {
        switch self {
        case .literal(let text), .expression(let text): text
        }
    }

    init(_ expression: ExprSyntax) {
        let text = expression.trimmedDescription
        self = isLiteral(expression) ? .literal(text) : .expression(text)
    }
}

private func isLiteral(_ expression: ExprSyntax) -> Bool {
    if let array = expression.as(ArrayExprSyntax.self) {
        return array.elements.allSatisfy { isLiteral($0.expression) }
    }
    if let dictionary = expression.as(DictionaryExprSyntax.self) {
        return dictionary.content.is(TokenSyntax.self)
    }
    if let prefixed = expression.as(PrefixOperatorExprSyntax.self) {
        return prefixed.operator.text == "-" && isLiteral(prefixed.expression)
    }
    if let string = expression.as(StringLiteralExprSyntax.self) {
        return string.segments.allSatisfy { $0.is(StringSegmentSyntax.self) }
    }
    return expression.is(IntegerLiteralExprSyntax.self)
        || expression.is(FloatLiteralExprSyntax.self)
        || expression.is(BooleanLiteralExprSyntax.self) || expression.is(NilLiteralExprSyntax.self)
}

/// The type as in the source; `nil`, with a diagnostic, if it has no form on the wire.
func codableType(
    _ type: TypeSyntax, of what: String, in context: some MacroExpansionContext
) -> String? {
    let finder = UncodableTypeFinder(viewMode: .sourceAccurate)
    finder.walk(type)
    if let (node, kind) = finder.found {
        let isAny = kind == .existential && node.trimmedDescription == "Any"
        context.refuse(
            node, "uncodableType", "\(what) is \(kind.reason)",
            fix: isAny ? .replace(node, with: "WireValue", "write 'WireValue'") : nil)
        return nil
    }
    if let unwrapped = type.as(ImplicitlyUnwrappedOptionalTypeSyntax.self) {
        return unwrapped.wrappedType.trimmedDescription + "?"
    }
    return type.trimmedDescription
}

private final class UncodableTypeFinder: SyntaxVisitor {
    enum Kind {
        case tuple, function, existential, object

        /// The kind of type, why it has no form on the wire, and what to write instead.
        var reason: String {
            switch self {
            case .tuple:
                "a tuple, which has no names on the wire; declare a struct with @WireCodable "
                    + "instead"
            case .function:
                "a function, which cannot be coded; keep it outside, or make it a computed "
                    + "property"
            case .existential:
                "of any type, which a reader of the bytes cannot know; declare an enum of what it "
                    + "may be, or a WireValue"
            case .object:
                "an object, which stays in its process; declare a struct with @WireCodable instead"
            }
        }
    }
    var found: (Syntax, Kind)?

    override func visit(_ node: TupleTypeSyntax) -> SyntaxVisitorContinueKind {
        // `(Int)` and `(any P)?` are parentheses, not tuples.
        guard node.elements.count != 1, found == nil else { return .visitChildren }
        found = (Syntax(node), .tuple)
        return .skipChildren
    }

    override func visit(_ node: FunctionTypeSyntax) -> SyntaxVisitorContinueKind {
        found = found ?? (Syntax(node), .function)
        return .skipChildren
    }

    override func visit(_ node: SomeOrAnyTypeSyntax) -> SyntaxVisitorContinueKind {
        found = found ?? (Syntax(node), .existential)
        return .skipChildren
    }

    override func visit(_ node: IdentifierTypeSyntax) -> SyntaxVisitorContinueKind {
        if found == nil {
            switch node.name.text {
            case "Any": found = (Syntax(node), .existential)
            case "AnyObject": found = (Syntax(node), .object)
            default: return .visitChildren
            }
        }
        return .skipChildren
    }
}

/// A name without backticks.
func plainName(_ token: TokenSyntax) -> String {
    let text = token.text
    guard text.count > 2, text.hasPrefix("`"), text.hasSuffix("`") else { return text }
    return String(text.dropFirst().dropLast())
}
