import SwiftSyntax
import SwiftSyntaxMacros

/// The declaration that `@WireCodable` is attached to.
struct WireType {
    enum Kind {
        /// `removed` are names of removed fields.
        case record([WireField], removed: [WireBytes])
        case choice([WireCase])
        /// A type with a raw value: the library has its coding, only the conformance is missing.
        case rawValue
    }

    var kind: Kind
    /// The name with those of the enclosing types, such as `Shop.State`.
    var name: String
    var doc: String
    var access: WireAccess
    /// Generic parameters that must be codable and are not declared so.
    var unconstrained: [String]

    /// ` where T: WireCodable`, or empty.
    var whereClause: String {
        guard !unconstrained.isEmpty else { return "" }
        return " where " + unconstrained.map { "\($0): WireCodable" }.joined(separator: ", ")
    }
}

extension WireType {
    /// Reads `declaration`; `nil`, with a diagnostic in `context`, if it cannot be coded.
    init?(_ declaration: some DeclGroupSyntax, in context: some MacroExpansionContext) {
        let kind: Kind?
        let typeName: TokenSyntax
        if let declaration = declaration.as(StructDeclSyntax.self) {
            typeName = declaration.name
            kind =
                inheritsRawValue(declaration.inheritanceClause, rawProtocols)
                ? .rawValue
                : storedFields(declaration, in: context).map { fields in
                    .record(fields, removed: wireRemoved(declaration.attributes, in: context))
                }
        } else if let declaration = declaration.as(EnumDeclSyntax.self) {
            typeName = declaration.name
            kind =
                inheritsRawValue(declaration.inheritanceClause, rawTypes)
                ? rawEnum(declaration, in: context)
                : wireCases(declaration, in: context).map(Kind.choice)
        } else {
            context.refuse(
                declaration, "notAValue",
                "@WireCodable works on a struct or an enum: a value has one form on the wire, an "
                    + "object or a protocol has none")
            return nil
        }
        guard let kind, isReachable(declaration, in: context) else { return nil }
        var hasRawValue = false
        if case .rawValue = kind { hasRawValue = true }
        guard WireVersion(declaration).check(hasRawValue: hasRawValue, in: context) else {
            return nil
        }
        let nested = declaration.memberBlock.members.compactMap { member in
            member.decl.asProtocol((any DeclGroupSyntax).self)
        }
        guard refuseUncoded(nested, mentioned: mentionedWords(kind), in: context) else {
            return nil
        }
        self.kind = kind
        name = qualifiedName(typeName, in: context.lexicalContext)
        doc = docComment(declaration)
        access = WireAccess(declaration.modifiers, in: context.lexicalContext)
        unconstrained = unconstrainedParameters(
            of: declaration, enclosing: context.lexicalContext, mentionedIn: kind)
        if case .record(let fields, _) = kind, !fields.allSatisfy(\.isPublic) {
            access.isInlinable = false
        }
    }
}

/// Whether an extension at file scope, which has the conformance, can name the type.
func isReachable(
    _ declaration: some DeclGroupSyntax, in context: some MacroExpansionContext
) -> Bool {
    let nested = ([Syntax(declaration)] + context.lexicalContext).compactMap {
        $0.asProtocol((any DeclGroupSyntax).self)
    }
    for group in nested.dropLast() {
        let word = group.modifiers.first { $0.name.text == "private" && $0.detail == nil }
        guard let word else { continue }
        let place: any SyntaxProtocol = group.id == declaration.id ? word : declaration.introducer
        context.refuse(
            Syntax(place), "nestedPrivate",
            "the conformance is at file scope, where a private nested type is not visible; "
                + "make it fileprivate",
            // The macro cannot change an enclosing declaration.
            fix: group.id == declaration.id
                ? .replace(word, with: "fileprivate", "declare it fileprivate") : nil)
        return false
    }
    return true
}

private let rawProtocols: Set<String> = ["RawRepresentable", "OptionSet"]

private let rawTypes: Set<String> = [
    "String", "Int", "Int8", "Int16", "Int32", "Int64", "UInt", "UInt8", "UInt16", "UInt32",
    "UInt64", "Double", "Float", "RawRepresentable",
]

private func inheritsRawValue(_ clause: InheritanceClauseSyntax?, _ names: Set<String>) -> Bool {
    clause?.inheritedTypes.contains { names.contains($0.type.trimmedDescription) } ?? false
}

private func qualifiedName(_ name: TokenSyntax, in context: [Syntax]) -> String {
    let enclosing = context.compactMap { node -> String? in
        if let node = node.as(ExtensionDeclSyntax.self) {
            return node.extendedType.trimmedDescription
        }
        return node.asProtocol((any NamedDeclSyntax).self).flatMap { named in
            named.isProtocol((any DeclGroupSyntax).self) ? plainName(named.name) : nil
        }
    }
    return (enclosing.reversed() + [plainName(name)]).joined(separator: ".")
}

// MARK: - Generic parameters
private func unconstrainedParameters(
    of declaration: some DeclGroupSyntax, enclosing: [Syntax], mentionedIn kind: WireType.Kind
) -> [String] {
    let mentioned = mentionedWords(kind)
    var names: [String] = []
    for node in [Syntax(declaration)] + enclosing {
        guard let generic = node.asProtocol((any WithGenericParametersSyntax).self) else {
            continue
        }
        let requirements = generic.genericWhereClause?.requirements.trimmedDescription ?? ""
        for parameter in generic.genericParameterClause?.parameters ?? [] {
            let name = parameter.name.text
            let inherited = parameter.inheritedType?.trimmedDescription ?? ""
            let isConstrained =
                inherited.contains("WireCodable")
                || requirements.contains("\(name): WireCodable")
            if mentioned.contains(name), !isConstrained, parameter.specifier == nil {
                names.append(name)
            }
        }
    }
    return names
}

/// Every identifier in the types of the fields.
func mentionedWords(_ kind: WireType.Kind) -> Set<String> {
    let types: [String]
    switch kind {
    case .record(let fields, _): types = fields.map(\.type)
    case .choice(let cases): types = cases.flatMap(\.values).map(\.type)
    case .rawValue: types = []
    }
    return Set(
        types.flatMap { type in
            type.split { !($0.isLetter || $0.isNumber || $0 == "_") }.map(String.init)
        })
}
