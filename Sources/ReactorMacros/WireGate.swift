import SwiftSyntax
import SwiftSyntaxBuilder
import SwiftSyntaxMacros

/// The check that a field's type is codable, for a type that the macro does not know.
///
/// The generated code names such a type only through an alias, which exists if the type is codable.
/// Otherwise the compiler reports the alias, at the field's line, and no use of it.
struct WireGate {
    /// The name of the alias.
    var name = ""
    /// The aliased type: `[WireForm<Job>.Checked]`. The form's constraint is a protocol whose name
    /// is the remedy: see `WireForm`.
    var form: String
    /// The file of the field, as a literal, and its line.
    var place: (file: String, line: Int)?

    /// The declarations of the alias, which the compiler reports at the field's line.
    func members(access: WireAccess) -> [Lines] {
        let alias: Lines = ["\(access.supportOpaque)typealias \(name) = \(form)"]
        guard let place else { return [alias] }
        // The line after the directive has its number, and the compiler puts an empty line there.
        let line = max(place.line - 1, 1)
        return [
            ["#sourceLocation(file: \(place.file), line: \(line))"], alias,
            ["#sourceLocation()"],
        ]
    }
}

extension WireGate {
    /// The check of the type `type`, which is written at `node`; `nil` if the macro knows that the
    /// type is codable, or if it is a generic parameter.
    ///
    /// A type that was inferred always has a check: a field of another type is an error.
    init?(
        _ type: String, isInferred: Bool = false, at node: some SyntaxProtocol,
        in context: some MacroExpansionContext
    ) {
        let rewriter = LeafRewriter(
            parameters: genericParameters(ancestors(of: node) + context.lexicalContext))
        form = rewriter.rewrite(TypeSyntax(stringLiteral: type)).trimmedDescription
        guard rewriter.hasChanged || isInferred else { return nil }
        let location = context.location(
            of: node, at: .afterLeadingTrivia, filePathMode: .filePath)
        place = location.flatMap { location in
            Int(location.line.trimmedDescription).map { (location.file.trimmedDescription, $0) }
        }
    }
}

private func ancestors(of node: some SyntaxProtocol) -> [Syntax] {
    var found: [Syntax] = []
    var next = Syntax(node).parent
    while let node = next {
        found.append(node)
        next = node.parent
    }
    return found
}

/// The names of the generic parameters of the enclosing declarations.
private func genericParameters(_ context: [Syntax]) -> Set<String> {
    let clauses = context.compactMap {
        $0.asProtocol((any WithGenericParametersSyntax).self)?.genericParameterClause
    }
    return Set(clauses.flatMap(\.parameters).map(\.name.text))
}

/// Replaces each unknown type in the type of a field by the form that only a codable type has.
private final class LeafRewriter: SyntaxRewriter {
    private(set) var hasChanged = false
    private let parameters: Set<String>

    /// Types that `ReactorFoundation` makes codable.
    private static let foundation: Set = ["Date", "UUID", "URL", "Data", "Decimal"]
    /// Types that are codable.
    private static let known: Set = [
        "Bool", "String", "Int", "Int8", "Int16", "Int32", "Int64", "UInt", "UInt8", "UInt16",
        "UInt32", "UInt64", "Double", "Float", "Duration", "Never", "WireKey", "WireValue",
        "WireMap", "Self",
    ]
    /// Types that are keys.
    private static let keys: Set = [
        "String", "Int", "Int32", "Int64", "UInt", "UInt32", "UInt64", "WireKey", "Self",
    ]
    /// Generic types that are codable if their arguments are.
    private static let containers: Set = [
        "Optional", "Array", "Set", "Pulse", "Undoable", "AsyncLoad",
    ]
    /// Generic types that are codable if the first argument is a key and the last is codable, and
    /// the form of their keys.
    private static let maps = ["Dictionary": "WireKeyForm", "Keyed": "KeyedKeyForm"]

    init(parameters: Set<String>) { self.parameters = parameters }

    override func visit(_ node: IdentifierTypeSyntax) -> TypeSyntax {
        let name = node.name.text
        guard let clause = node.genericArgumentClause else {
            if Self.known.contains(name) || parameters.contains(name) { return TypeSyntax(node) }
            return checked(TypeSyntax(node), form(name, isFoundation: true))
        }
        if Self.containers.contains(name) || Self.maps[name] != nil {
            return TypeSyntax(
                node.with(\.genericArgumentClause, rewritten(clause, keys: Self.maps[name])))
        }
        return mentionsParameter(node)
            ? TypeSyntax(node) : checked(TypeSyntax(node), "WireForm")
    }

    override func visit(_ node: MemberTypeSyntax) -> TypeSyntax {
        if let plain = withoutModule(node) { return visit(plain) }
        guard !mentionsParameter(node) else { return TypeSyntax(node) }
        return checked(TypeSyntax(node), form(node.name.text, isFoundation: isFoundation(node)))
    }

    override func visit(_ node: DictionaryTypeSyntax) -> TypeSyntax {
        TypeSyntax(
            node.with(\.key, key(node.key, "WireKeyForm"))
                .with(\.value, rewrite(node.value).cast(TypeSyntax.self)))
    }

    /// The arguments of a known type; `keys` is the form of the first if that is a key.
    private func rewritten(
        _ clause: GenericArgumentClauseSyntax, keys: String?
    ) -> GenericArgumentClauseSyntax {
        var arguments = clause.arguments
        for index in clause.arguments.indices {
            guard case .type(let type) = clause.arguments[index].argument else { continue }
            arguments[index].argument =
                if let keys, index == clause.arguments.startIndex {
                    .type(key(type, keys))
                } else {
                    .type(rewrite(type).cast(TypeSyntax.self))
                }
        }
        return clause.with(\.arguments, arguments)
    }

    /// The type of a key, in `form` unless the macro knows that it is one.
    private func key(_ type: TypeSyntax, _ form: String) -> TypeSyntax {
        let plain = type.as(IdentifierTypeSyntax.self)
        if let plain, plain.genericArgumentClause == nil, Self.keys.contains(plain.name.text) {
            return type
        }
        guard !mentionsParameter(type) else { return type }
        let isUUID = plain?.name.text == "UUID" || isFoundation(type, "UUID")
        return checked(type, isUUID ? "WireFoundationKeyForm" : form)
    }

    private func form(_ name: String, isFoundation: Bool) -> String {
        isFoundation && Self.foundation.contains(name) ? "WireFoundationForm" : "WireForm"
    }

    /// Whether a type is written as a member of Foundation, and has the name `name`, if one is given.
    private func isFoundation(_ type: some TypeSyntaxProtocol, _ name: String? = nil) -> Bool {
        guard let member = type.as(MemberTypeSyntax.self) else { return false }
        return ["Foundation", "FoundationEssentials"].contains(member.baseType.trimmedDescription)
            && name ?? member.name.text == member.name.text
    }

    /// The type as written without the name of the library that has it: `Swift.Array<Job>`.
    private func withoutModule(_ node: MemberTypeSyntax) -> IdentifierTypeSyntax? {
        guard ["Swift", "ReactorWire", "ReactorCore"].contains(node.baseType.trimmedDescription)
        else { return nil }
        return IdentifierTypeSyntax(
            name: node.name, genericArgumentClause: node.genericArgumentClause)
    }

    /// Whether the compiler knows less about the type here than where the parameter gets a value.
    private func mentionsParameter(_ type: some TypeSyntaxProtocol) -> Bool {
        type.tokens(viewMode: .sourceAccurate).contains { parameters.contains($0.text) }
    }

    private func checked(_ type: TypeSyntax, _ form: String) -> TypeSyntax {
        hasChanged = true
        return TypeSyntax(stringLiteral: "\(form)<\(type.trimmedDescription)>.Checked")
    }
}
