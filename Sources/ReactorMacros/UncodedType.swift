import SwiftSyntax
import SwiftSyntaxMacros

/// Protocols and raw types that do not bring a `WireCodable` conformance.
private let silentTypes: Set<String> = [
    "Equatable", "Hashable", "Comparable", "Sendable", "Identifiable", "CaseIterable", "Error",
    "CustomStringConvertible", "CustomDebugStringConvertible", "Codable", "Encodable", "Decodable",
    "RawRepresentable", "OptionSet", "String", "Int", "Int8", "Int16", "Int32", "Int64", "UInt",
    "UInt8", "UInt16", "UInt32", "UInt64", "Double", "Float",
]

/// Refuses the types among `nested` that a value contains and that are not marked as encodable.
///
/// A type with a protocol of the author's own is accepted, since that may bring the conformance.
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
                "\(name.text) is part of an encoded value, and an object stays in its "
                    + "process; declare it as a struct",
                fix: .structure(insteadOf: object))
        } else {
            context.refuse(
                name, "uncodedType",
                "\(name.text) is part of an encoded value, and is not codable; declare it "
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

/// All type names in the stored properties of a struct or the payloads of an enum.
func payloadWords(
    _ type: any DeclSyntaxProtocol, in context: some MacroExpansionContext
) -> Set<String> {
    // A type with hand-written coding may not encode all that it contains.
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
