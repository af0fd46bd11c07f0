import SwiftSyntax
import SwiftSyntaxMacros

/// Protocols and raw types of which it is known that they say nothing of the wire.
private let silentTypes: Set<String> = [
    "Equatable", "Hashable", "Comparable", "Sendable", "Identifiable", "CaseIterable", "Error",
    "CustomStringConvertible", "CustomDebugStringConvertible", "Codable", "Encodable", "Decodable",
    "RawRepresentable", "OptionSet", "String", "Int", "Int8", "Int16", "Int32", "Int64", "UInt",
    "UInt8", "UInt16", "UInt32", "UInt64", "Double", "Float",
]

/// Refuses the types among `nested` that a value holds and that do not say that they travel.
///
/// A type with a protocol of the author's own is trusted, for that may bring the conformance.
func refuseUncoded(
    _ nested: [any DeclGroupSyntax], mentioned: Set<String>,
    in context: some MacroExpansionContext
) -> Bool {
    var isFine = true
    for type in nested {
        guard let name = type.asProtocol((any NamedDeclSyntax).self)?.name,
            mentioned.contains(plainName(name)), !codesItself(type), isSilent(type)
        else { continue }
        isFine = false
        if let object = type.as(ClassDeclSyntax.self) {
            context.refuse(
                name, "uncodedObject",
                "\(name.text) is part of a value that travels, and an object stays in its "
                    + "process; declare it as a struct",
                fix: .structure(insteadOf: object))
        } else {
            context.refuse(
                name, "uncodedType",
                "\(name.text) is part of a value that travels, and does not say how; declare it "
                    + "with @WireCodable",
                fix: .attribute("@WireCodable", on: type))
        }
    }
    return isFine
}

private func isSilent(_ type: any DeclGroupSyntax) -> Bool {
    guard
        type.is(StructDeclSyntax.self) || type.is(EnumDeclSyntax.self)
            || type.is(ClassDeclSyntax.self)
    else { return false }
    return type.inheritanceClause?.inheritedTypes.allSatisfy { inherited in
        silentTypes.contains(lastName(inherited.type))
    } ?? true
}

/// Every word in the types of what a struct or an enum holds.
func payloadWords(
    _ type: any DeclSyntaxProtocol, in context: some MacroExpansionContext
) -> Set<String> {
    // because what the author codes by hand need not hold what it codes
    if let group = type.asProtocol((any DeclGroupSyntax).self), conformsItself(group) { return [] }
    if let type = type.as(StructDeclSyntax.self) {
        return storedFields(type, in: context).map { mentionedWords(.record($0, removed: [])) }
            ?? []
    }
    if let type = type.as(EnumDeclSyntax.self) {
        return wireCases(type, in: context).map { mentionedWords(.choice($0)) } ?? []
    }
    return []
}
