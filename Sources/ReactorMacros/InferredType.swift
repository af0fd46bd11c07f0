import SwiftSyntax

/// The type that Swift infers for a variable from its initial value, as far as the text of the
/// value tells.
struct InferredType {
    /// The type as source.
    var text: String
    /// Whether the value has this type for certain. An initializer may be failable, or may be a
    /// function with a capital letter.
    var isCertain = true
}

extension InferredType {
    /// Reads an initial value; `nil` if its type does not follow from its text.
    init?(_ value: ExprSyntax) {
        guard let type = Self.ofLiteral(value) ?? Self.ofCall(value) else { return nil }
        self = type
    }

    private static func ofLiteral(_ value: ExprSyntax) -> InferredType? {
        if let prefixed = value.as(PrefixOperatorExprSyntax.self) {
            return prefixed.operator.text == "-" ? ofLiteral(prefixed.expression) : nil
        }
        if value.is(IntegerLiteralExprSyntax.self) { return InferredType(text: "Int") }
        if value.is(FloatLiteralExprSyntax.self) { return InferredType(text: "Double") }
        if value.is(BooleanLiteralExprSyntax.self) { return InferredType(text: "Bool") }
        if value.is(StringLiteralExprSyntax.self) { return InferredType(text: "String") }
        if let array = value.as(ArrayExprSyntax.self) {
            return commonType(array.elements.map(\.expression)).map { element in
                InferredType(text: "[\(element.text)]", isCertain: element.isCertain)
            }
        }
        guard case .elements(let pairs)? = value.as(DictionaryExprSyntax.self)?.content,
            let key = commonType(pairs.map(\.key)), let element = commonType(pairs.map(\.value))
        else { return nil }
        return InferredType(
            text: "[\(key.text): \(element.text)]", isCertain: key.isCertain && element.isCertain)
    }

    /// The type of an initializer's call, or of `value as Type`.
    private static func ofCall(_ value: ExprSyntax) -> InferredType? {
        if let call = value.as(FunctionCallExprSyntax.self) {
            guard openType(of: call) == nil else { return nil }
            return typeName(call.calledExpression).map {
                InferredType(text: $0, isCertain: false)
            }
        }
        guard let elements = value.as(SequenceExprSyntax.self)?.elements, elements.count == 3,
            let coercion = elements.dropFirst().first?.as(UnresolvedAsExprSyntax.self),
            coercion.questionOrExclamationMark == nil,
            let type = elements.last?.as(TypeExprSyntax.self)
        else { return nil }
        return InferredType(text: type.trimmedDescription)
    }

    /// The type of a call whose callee does not show all of it, with `Type` for what it does not
    /// show: of a generic type without its arguments, or of a number read from text, which may be
    /// nil. An author's own generic type is not known here.
    static func openType(of call: FunctionCallExprSyntax) -> String? {
        guard let name = call.calledExpression.as(DeclReferenceExprSyntax.self)?.baseName.text
        else {
            return nil
        }
        if let argumentCount = argumentCounts[name] {
            let arguments = Array(repeating: "Type", count: argumentCount)
            return "\(name)<\(arguments.joined(separator: ", "))>"
        }
        let first = call.arguments.first
        guard parsed.contains(name), let first, first.label == nil,
            first.expression.is(StringLiteralExprSyntax.self)
        else { return nil }
        return name + "?"
    }

    /// The generic types of Swift and of the library that initial values name, with the number of
    /// their arguments.
    private static let argumentCounts = [
        "Array": 1, "Set": 1, "Dictionary": 2, "Optional": 1, "Keyed": 2, "Undoable": 1,
        "Stamped": 1, "Pulse": 1, "AsyncLoad": 2,
    ]
    /// The types that read a value from text.
    private static let parsed: Set = [
        "Int", "Int8", "Int16", "Int32", "Int64", "UInt", "UInt8", "UInt16", "UInt32", "UInt64",
        "Double", "Float", "Bool",
    ]

    /// The type that a value probably has, for a fix: `Mood` of `Mood.calm`.
    static func guess(_ value: ExprSyntax) -> String? {
        if let open = value.as(FunctionCallExprSyntax.self).flatMap(openType) { return open }
        let access =
            value.as(MemberAccessExprSyntax.self)
            ?? value.as(FunctionCallExprSyntax.self)?.calledExpression
            .as(MemberAccessExprSyntax.self)
        return access?.base.flatMap(typeName)
    }
}

/// The type of all the values of a literal; `nil` if they differ.
private func commonType(_ values: [ExprSyntax]) -> InferredType? {
    let types = values.map { InferredType($0) }
    guard let first = types.first, let first, types.allSatisfy({ $0?.text == first.text }) else {
        return nil
    }
    return InferredType(
        text: first.text, isCertain: types.allSatisfy { $0?.isCertain ?? false })
}

/// The type whose initializer an expression calls: `Config`, `Set<Int>`, `[Int]`, `Config.init`.
private func typeName(_ callee: ExprSyntax) -> String? {
    if let specialised = callee.as(GenericSpecializationExprSyntax.self) {
        return typeName(specialised.expression).map { name in
            name + specialised.genericArgumentClause.trimmedDescription
        }
    }
    if callee.is(ArrayExprSyntax.self) || callee.is(DictionaryExprSyntax.self) {
        return callee.trimmedDescription
    }
    if let access = callee.as(MemberAccessExprSyntax.self) {
        guard let base = access.base.flatMap(typeName) else { return nil }
        let name = access.declName.baseName
        if name.tokenKind == .keyword(.`init`) { return base }
        return name.text.first?.isUppercase == true ? "\(base).\(name.text)" : nil
    }
    let name = callee.as(DeclReferenceExprSyntax.self)?.baseName.text
    return name?.first?.isUppercase == true ? name : nil
}
