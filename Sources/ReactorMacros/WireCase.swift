import SwiftSyntax
import SwiftSyntaxMacros

/// A case of an enum.
struct WireCase {
    enum Payload {
        case none
        case single(WireField)
        case tuple([WireField])
        case record([WireField])
    }

    var name: WireBytes
    /// The name as in the source, perhaps in backticks.
    var identifier: String
    var payload: Payload
    var aliases: [WireBytes]
    /// Whether only the daemon sends it.
    var isInternal: Bool
    /// Whether the log hides its values.
    var isSecret: Bool
    var doc: String

    /// The associated values, in the order of declaration.
    var values: [WireField] {
        switch payload {
        case .none: []
        case .single(let value): [value]
        case .tuple(let values), .record(let values): values
        }
    }
}

/// The cases of an enum, in the order of declaration; `nil` if one of them cannot be coded.
func wireCases(
    _ declaration: EnumDeclSyntax, in context: some MacroExpansionContext
) -> [WireCase]? {
    var cases: [WireCase] = []
    var isComplete = refuseConditionals(declaration.memberBlock, in: context)
    for member in declaration.memberBlock.members {
        guard let line = member.decl.as(EnumCaseDeclSyntax.self) else { continue }
        let aliases = wireAliases(line.attributes, declared: line.elements.count, in: context)
        let isInternal = mark("WireInternal", of: line) != nil
        let isSecret = mark("WireSecret", of: line) != nil
        for element in line.elements {
            guard let payload = payload(of: element, in: context) else {
                isComplete = false
                continue
            }
            cases.append(
                WireCase(
                    name: WireBytes(plainName(element.name)), identifier: element.name.text,
                    payload: payload, aliases: line.elements.count == 1 ? aliases : [],
                    isInternal: isInternal, isSecret: isSecret, doc: docComment(line)))
        }
    }
    let isUnique = refuseDuplicates(
        cases.map { ([$0.name] + $0.aliases, "case") }, at: declaration.name, in: context)
    return isComplete && isUnique ? cases : nil
}

/// The attribute of a case with a name.
private func mark(_ name: String, of line: EnumCaseDeclSyntax) -> AttributeSyntax? {
    for case .attribute(let attribute) in line.attributes where attributeName(attribute) == name {
        return attribute
    }
    return nil
}

/// The kind of an enum with a raw value; `nil`, with a diagnostic, if a case of it is internal or
/// secret.
func rawEnum(
    _ declaration: EnumDeclSyntax, in context: some MacroExpansionContext
) -> WireType.Kind? {
    var isUnmarked = true
    for member in declaration.memberBlock.members {
        guard let line = member.decl.as(EnumCaseDeclSyntax.self) else { continue }
        for (name, id) in [
            ("WireInternal", "internalRawValue"), ("WireSecret", "secretRawValue"),
        ] {
            guard let mark = mark(name, of: line) else { continue }
            isUnmarked = false
            context.refuse(
                mark, id, "@\(name) has no effect in an enum with a raw value; remove the raw type")
        }
    }
    return isUnmarked ? .rawValue : nil
}

private func payload(
    of element: EnumCaseElementSyntax, in context: some MacroExpansionContext
) -> WireCase.Payload? {
    guard let parameters = element.parameterClause?.parameters, !parameters.isEmpty else {
        return WireCase.Payload.none
    }
    let caseName = plainName(element.name)
    var values: [WireField] = []
    var labelled = 0
    for (index, parameter) in parameters.enumerated() {
        let label = parameter.firstName.flatMap { $0.text == "_" ? nil : $0 }
        if label != nil { labelled += 1 }
        let name = label.map(plainName) ?? String(index)
        let what = "\"\(name)\" of case \"\(caseName)\""
        guard let type = codableType(parameter.type, of: what, in: context) else { return nil }
        values.append(
            WireField(
                name: WireBytes(name), identifier: label?.text ?? "", type: type,
                defaultValue: parameter.defaultValue.map { WireDefault($0.value) },
                gate: WireGate(type, at: parameter, in: context)))
        values[index].gate?.name = "_WireForm_\(caseName)_\(index)"
    }
    guard labelled == 0 || labelled == values.count else {
        context.refuse(
            element, "mixedLabels",
            "case \"\(caseName)\" labels some of its values and not others; label all of them (a "
                + "map on the wire) or none (an array)")
        return nil
    }
    if labelled > 0 {
        guard refuseDuplicates(values.map { ([$0.name], "value") }, at: element, in: context) else {
            return nil
        }
        return .record(values)
    }
    return values.count == 1 ? .single(values[0]) : .tuple(values)
}
