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
    /// The aliased type: `[WireForm<Job>.Checked]`.
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
    /// Generic types that are codable if their last argument is.
    private static let containers: Set = [
        "Optional", "Array", "Set", "Dictionary", "Keyed", "Pulse",
    ]

    init(parameters: Set<String>) { self.parameters = parameters }

    override func visit(_ node: IdentifierTypeSyntax) -> TypeSyntax {
        let name = node.name.text
        guard let clause = node.genericArgumentClause else {
            if Self.known.contains(name) || parameters.contains(name) { return TypeSyntax(node) }
            return checked(TypeSyntax(node), isFoundation: Self.foundation.contains(name))
        }
        guard Self.containers.contains(name), let last = clause.arguments.last,
            let index = clause.arguments.index(of: last),
            case .type(let type) = last.argument
        else { return TypeSyntax(node) }
        var arguments = clause.arguments
        arguments[index].argument = .type(rewrite(type).cast(TypeSyntax.self))
        return TypeSyntax(
            node.with(\.genericArgumentClause, clause.with(\.arguments, arguments)))
    }

    override func visit(_ node: MemberTypeSyntax) -> TypeSyntax {
        let root = node.trimmedDescription.prefix { $0 != "." && $0 != "<" }
        guard node.genericArgumentClause == nil, !parameters.contains(String(root)),
            !node.baseType.trimmedDescription.contains("<")
        else { return TypeSyntax(node) }
        let isFoundation = root == "Foundation" || root == "FoundationEssentials"
        return checked(
            TypeSyntax(node),
            isFoundation: isFoundation && Self.foundation.contains(node.name.text))
    }

    // The key of a dictionary has a protocol of its own.
    override func visit(_ node: DictionaryTypeSyntax) -> TypeSyntax {
        TypeSyntax(node.with(\.value, rewrite(node.value).cast(TypeSyntax.self)))
    }

    private func checked(_ type: TypeSyntax, isFoundation: Bool) -> TypeSyntax {
        hasChanged = true
        let form = isFoundation ? "WireFoundationForm" : "WireForm"
        return TypeSyntax(stringLiteral: "\(form)<\(type.trimmedDescription)>.Checked")
    }
}
