import SwiftParser
import SwiftSyntax

/// Reads the contents of a `ParsedFile` from a syntax tree.
final class FileParser: SyntaxVisitor {
    private let lines: SourceLocationConverter
    private var pieces: [ParsedFile.Piece] = []
    /// The open pieces, innermost last, by their indices in `pieces`.
    private var open: [Int] = []
    /// Depth of function and accessor bodies, in which declarations are local.
    private var bodyDepth = 0
    /// Names of generic parameters of the open functions.
    private var genericNames: [Set<String>] = []
    private var functions: [ParsedFile.Function] = []
    private var mentions: Set<ParsedFile.Mention> = []
    private var placeholders: [String: Set<String>] = [:]
    private var publicCount = 0
    private var reexports: [String] = []

    private init(_ tree: SourceFileSyntax) {
        lines = SourceLocationConverter(fileName: "", tree: tree)
        super.init(viewMode: .sourceAccurate)
    }

    /// Parses a file.
    static func parse(_ file: SourceFile) -> ParsedFile {
        let tree = Parser.parse(source: file.lines.joined(separator: "\n"))
        let parser = FileParser(tree)
        parser.walk(tree)
        return ParsedFile(
            file: file, pieces: parser.pieces, functions: parser.functions,
            mentions: parser.mentions, placeholders: parser.placeholders,
            publicCount: parser.publicCount, reexports: parser.reexports)
    }

    // MARK: - Types

    override func visit(_ node: StructDeclSyntax) -> SyntaxVisitorContinueKind { begin(node) }
    override func visitPost(_ node: StructDeclSyntax) { end() }
    override func visit(_ node: ClassDeclSyntax) -> SyntaxVisitorContinueKind { begin(node) }
    override func visitPost(_ node: ClassDeclSyntax) { end() }
    override func visit(_ node: EnumDeclSyntax) -> SyntaxVisitorContinueKind { begin(node) }
    override func visitPost(_ node: EnumDeclSyntax) { end() }
    override func visit(_ node: ActorDeclSyntax) -> SyntaxVisitorContinueKind { begin(node) }
    override func visitPost(_ node: ActorDeclSyntax) { end() }
    override func visit(_ node: ProtocolDeclSyntax) -> SyntaxVisitorContinueKind { begin(node) }
    override func visitPost(_ node: ProtocolDeclSyntax) { end() }

    override func visit(_ node: ExtensionDeclSyntax) -> SyntaxVisitorContinueKind {
        let name = Self.names(of: node.extendedType).joined(separator: ".")
        begin(node, keyword: "extension", name: name)
        return .visitChildren
    }

    override func visitPost(_ node: ExtensionDeclSyntax) { end() }

    override func visit(_ node: TypeAliasDeclSyntax) -> SyntaxVisitorContinueKind {
        countPublic(node.modifiers)
        begin(node, keyword: "typealias", name: node.name.text)
        return .visitChildren
    }

    override func visitPost(_ node: TypeAliasDeclSyntax) { end() }

    override func visit(_ node: AssociatedTypeDeclSyntax) -> SyntaxVisitorContinueKind {
        placeholders[context, default: []].insert(node.name.text)
        return .visitChildren
    }

    private func begin(
        _ node: some DeclGroupSyntax & NamedDeclSyntax & WithAttributesSyntax
    ) -> SyntaxVisitorContinueKind {
        countPublic(node.modifiers)
        begin(node, keyword: node.introducer.text, name: node.name.text)
        return .visitChildren
    }

    private func begin(
        _ node: some DeclSyntaxProtocol & WithAttributesSyntax, keyword: String, name: String
    ) {
        let group = node.asProtocol((any DeclGroupSyntax).self)
        let modifiers = Self.modifiers(node)
        let first = line(of: node.positionAfterSkippingLeadingTrivia)
        let inherited = group?.inheritanceClause?.inheritedTypes.map { $0.type } ?? []
        let isHidden = modifiers.contains("private") || modifiers.contains("fileprivate")
        let isAroundHidden = open.contains { pieces[$0].isPrivate }
        let piece = ParsedFile.Piece(
            keyword: keyword, name: open.isEmpty ? name : "\(context).\(name)", line: first,
            lineCount: line(of: node.endPositionBeforeTrailingTrivia) - first + 1,
            isVisible: !modifiers.isDisjoint(with: ["public", "open", "package"]),
            isCommand: Self.hasAttribute(node, "@main")
                || inherited.contains { $0.trimmedDescription.hasSuffix("ParsableCommand") },
            isPrivate: isHidden || isAroundHidden || bodyDepth > 0,
            isNoncopyable: inherited.contains { type in
                type.as(SuppressedTypeSyntax.self)?.type.trimmedDescription == "Copyable"
            },
            isConditional: !inherited.isEmpty || group?.genericWhereClause != nil)
        open.append(pieces.count)
        pieces.append(piece)
        let generics = node.asProtocol((any WithGenericParametersSyntax).self)
        for parameter in generics?.genericParameterClause?.parameters ?? [] {
            placeholders[context, default: []].insert(parameter.name.text)
        }
    }

    private func end() { open.removeLast() }

    private var context: String { open.last.map { pieces[$0].name } ?? "" }

    // MARK: - Members

    override func visit(_ node: VariableDeclSyntax) -> SyntaxVisitorContinueKind {
        guard bodyDepth == 0 else { return .visitChildren }
        countPublic(node.modifiers)
        let modifiers = Self.modifiers(node)
        guard let piece = open.last, !modifiers.contains("static"), !modifiers.contains("class"),
            pieces[piece].keyword != "protocol", !pieces[piece].isExtension
        else { return .visitChildren }
        let isClosed =
            pieces[piece].isPrivate || node.bindingSpecifier.text == "let"
            || modifiers.contains("private") || modifiers.contains("fileprivate")
            || Self.hasAttribute(node, "@usableFromInline")
        for binding in node.bindings where Self.isStored(binding) {
            pieces[piece].stored.append(
                ParsedFile.Stored(
                    name: binding.pattern.trimmedDescription,
                    isOpen: !isClosed && !Self.isCallback(binding),
                    line: line(of: binding.positionAfterSkippingLeadingTrivia)))
        }
        return .visitChildren
    }

    override func visit(_ node: FunctionDeclSyntax) -> SyntaxVisitorContinueKind {
        enter(
            node, name: node.name.text, parameters: node.signature.parameterClause.parameters,
            generics: node.genericParameterClause)
    }

    override func visitPost(_ node: FunctionDeclSyntax) { leave() }

    override func visit(_ node: InitializerDeclSyntax) -> SyntaxVisitorContinueKind {
        enter(
            node, name: "init", parameters: node.signature.parameterClause.parameters,
            generics: node.genericParameterClause)
    }

    override func visitPost(_ node: InitializerDeclSyntax) { leave() }

    override func visit(_ node: SubscriptDeclSyntax) -> SyntaxVisitorContinueKind {
        enter(
            node, name: "subscript", parameters: node.parameterClause.parameters,
            generics: node.genericParameterClause)
    }

    override func visitPost(_ node: SubscriptDeclSyntax) { leave() }

    override func visit(_ node: DeinitializerDeclSyntax) -> SyntaxVisitorContinueKind {
        bodyDepth += 1
        return .visitChildren
    }

    override func visitPost(_ node: DeinitializerDeclSyntax) { bodyDepth -= 1 }

    override func visit(_ node: AccessorBlockSyntax) -> SyntaxVisitorContinueKind {
        bodyDepth += 1
        return .visitChildren
    }

    override func visitPost(_ node: AccessorBlockSyntax) { bodyDepth -= 1 }

    override func visit(_ node: ClosureExprSyntax) -> SyntaxVisitorContinueKind {
        bodyDepth += 1
        return .visitChildren
    }

    override func visitPost(_ node: ClosureExprSyntax) { bodyDepth -= 1 }

    override func visit(_ node: MacroDeclSyntax) -> SyntaxVisitorContinueKind {
        countPublic(node.modifiers)
        return .visitChildren
    }

    override func visit(_ node: ImportDeclSyntax) -> SyntaxVisitorContinueKind {
        if node.attributes.trimmedDescription.contains("@_exported") {
            reexports.append(node.path.trimmedDescription)
        }
        return .skipChildren
    }

    private func enter(
        _ node: some DeclSyntaxProtocol, name: String, parameters: FunctionParameterListSyntax,
        generics: GenericParameterClauseSyntax?
    ) -> SyntaxVisitorContinueKind {
        let modifiers = Self.modifiers(node)
        if bodyDepth == 0 {
            if modifiers.contains("public") || modifiers.contains("open") { publicCount += 1 }
            let labels = parameters.map { "\($0.firstName.text):" }.joined()
            let function = ParsedFile.Function(
                name: name, labels: labels, isOverride: modifiers.contains("override"),
                line: line(of: node.positionAfterSkippingLeadingTrivia))
            if let piece = open.last {
                pieces[piece].functions.append(function)
            } else {
                functions.append(function)
            }
        }
        bodyDepth += 1
        genericNames.append(Set(generics?.parameters.map(\.name.text) ?? []))
        return .visitChildren
    }

    private func leave() {
        bodyDepth -= 1
        genericNames.removeLast()
    }

    private func countPublic(_ modifiers: DeclModifierListSyntax) {
        guard bodyDepth == 0 else { return }
        let isPublic = modifiers.contains {
            $0.detail == nil && ["public", "open"].contains($0.name.text)
        }
        if isPublic { publicCount += 1 }
    }

    // MARK: - Branches

    override func visit(_ node: IfExprSyntax) -> SyntaxVisitorContinueKind { branch() }
    override func visit(_ node: GuardStmtSyntax) -> SyntaxVisitorContinueKind { branch() }
    override func visit(_ node: SwitchExprSyntax) -> SyntaxVisitorContinueKind { branch() }
    override func visit(_ node: ForStmtSyntax) -> SyntaxVisitorContinueKind { branch() }
    override func visit(_ node: WhileStmtSyntax) -> SyntaxVisitorContinueKind { branch() }
    override func visit(_ node: RepeatStmtSyntax) -> SyntaxVisitorContinueKind { branch() }
    override func visit(_ node: CatchClauseSyntax) -> SyntaxVisitorContinueKind { branch() }

    // The parser leaves operators unfolded, so the conditional operator is this node.
    override func visit(_ node: UnresolvedTernaryExprSyntax) -> SyntaxVisitorContinueKind {
        branch()
    }

    private func branch() -> SyntaxVisitorContinueKind {
        if let piece = open.last { pieces[piece].branchCount += 1 }
        return .visitChildren
    }

    // MARK: - Names

    override func visit(_ node: IdentifierTypeSyntax) -> SyntaxVisitorContinueKind {
        mention([node.name.text])
        return .visitChildren
    }

    override func visit(_ node: MemberTypeSyntax) -> SyntaxVisitorContinueKind {
        mention(Self.names(of: TypeSyntax(node)))
        return .visitChildren
    }

    override func visit(_ node: MemberAccessExprSyntax) -> SyntaxVisitorContinueKind {
        mention(Self.names(of: node))
        return .visitChildren
    }

    override func visit(_ node: DeclReferenceExprSyntax) -> SyntaxVisitorContinueKind {
        mention([node.baseName.text])
        return .visitChildren
    }

    private func mention(_ names: [String]) {
        guard let first = names.first, first.first?.isUppercase == true,
            !genericNames.contains(where: { $0.contains(first) })
        else { return }
        mentions.insert(ParsedFile.Mention(names: names, context: context))
    }

    /// The names of a type, outermost first; empty for a type without a name.
    private static func names(of type: TypeSyntax) -> [String] {
        if let type = type.as(IdentifierTypeSyntax.self) { return [type.name.text] }
        if let type = type.as(MemberTypeSyntax.self) {
            return names(of: type.baseType) + [type.name.text]
        }
        if type.is(ArrayTypeSyntax.self) { return ["Array"] }
        if type.is(DictionaryTypeSyntax.self) { return ["Dictionary"] }
        if type.is(OptionalTypeSyntax.self) { return ["Optional"] }
        if let type = type.as(AttributedTypeSyntax.self) { return names(of: type.baseType) }
        if let type = type.as(SuppressedTypeSyntax.self) { return names(of: type.type) }
        return []
    }

    /// The names with capital initials that begin a member access: `Outer.Inner` in
    /// `Outer.Inner.shared.run`; empty if it begins with another expression.
    private static func names(of access: MemberAccessExprSyntax) -> [String] {
        let before: [String]
        if let base = access.base?.as(DeclReferenceExprSyntax.self) {
            before = [base.baseName.text]
        } else if let base = access.base?.as(MemberAccessExprSyntax.self) {
            before = names(of: base)
        } else {
            return []
        }
        let name = access.declName.baseName.text
        return name.first?.isUppercase == true && !before.isEmpty ? before + [name] : before
    }

    // MARK: - Parts of declarations

    private func line(of position: AbsolutePosition) -> Int {
        lines.location(for: position).line - 1
    }

    /// The names of a declaration's modifiers, without the text in their parentheses.
    private static func modifiers(_ node: some DeclSyntaxProtocol) -> Set<String> {
        Set(node.asProtocol((any WithModifiersSyntax).self)?.modifiers.map(\.name.text) ?? [])
    }

    private static func hasAttribute(_ node: some WithAttributesSyntax, _ name: String) -> Bool {
        node.attributes.contains { $0.trimmedDescription.hasPrefix(name) }
    }

    /// Whether the type is a function, or an optional one.
    private static func isCallback(_ binding: PatternBindingSyntax) -> Bool {
        let type = binding.typeAnnotation?.type
        let wrapped = type?.as(OptionalTypeSyntax.self)?.wrappedType ?? type
        let elements = wrapped?.as(TupleTypeSyntax.self)?.elements
        let inner = elements?.count == 1 ? elements?.first?.type : wrapped
        let bare = inner?.as(AttributedTypeSyntax.self)?.baseType ?? inner
        return bare?.is(FunctionTypeSyntax.self) ?? false
    }

    private static func isStored(_ binding: PatternBindingSyntax) -> Bool {
        guard let block = binding.accessorBlock else { return true }
        guard case .accessors(let list) = block.accessors else { return false }
        return list.allSatisfy { ["willSet", "didSet"].contains($0.accessorSpecifier.text) }
    }
}
