import SwiftSyntax
import SwiftSyntaxBuilder
import SwiftSyntaxMacros

/// `@Reactor`: makes a struct or a final class a reactor.
///
/// As member attribute it adds `@WireCodable` to the nested types; as member it registers the
/// children and generates the derived members; as extension it adds the conformance.
struct ReactorMacro: MemberMacro, FormattedMacro {
    static func expansion(
        of node: AttributeSyntax, providingMembersOf declaration: some DeclGroupSyntax,
        conformingTo protocols: [TypeSyntax], in context: some MacroExpansionContext
    ) throws -> [DeclSyntax] {
        guard let reactor = ReactorType(declaration, in: context) else {
            context.refuse(
                declaration.introducer, "notAReactor",
                "@Reactor works on a struct or a final class: its functions are the rules, its "
                    + "nested State is what changes")
            return []
        }
        let checks = ReactorChecks(reactor: reactor, context: context)
        checks.run()
        let all =
            members(of: reactor) + checks.missingParts.map { substitute(for: $0, in: reactor) }
        return all.map { DeclSyntax(stringLiteral: $0.text) }
    }

    private static func members(of reactor: ReactorType) -> [Lines] {
        initialMembers(of: reactor) + childMembers(of: reactor) + describingMembers(of: reactor)
    }

    /// The member from whose type the compiler infers a part that is missing, and was reported.
    private static func substitute(for part: String, in reactor: ReactorType) -> Lines {
        if part == "Action" {
            return block(
                "\(reactor.modifier)func shouldCancel("
                    + "current: _MissingPart, upcoming: _MissingPart) -> Swift.Bool", ["false"])
        }
        if reactor.properties["initialState"] == nil {
            return block(
                "\(reactor.modifier)var initialState: _MissingPart", ["_MissingPart()"])
        }
        return block(
            "\(reactor.modifier)func transform("
                + "state: Transform<_MissingPart>) -> Transform<_MissingPart>", ["state"])
    }

    /// The initial state, and an initializer if needed.
    private static func initialMembers(of reactor: ReactorType) -> [Lines] {
        guard reactor.stateHasDefault else { return [] }
        if reactor.getsInitializer {
            return [
                block(
                    "\(reactor.modifier)convenience init()",
                    ["self.init(initialState: State())"])
            ]
        }
        guard reactor.properties["initialState"] == nil, !reactor.inheritsBase,
            !reactor.inheritsUnknownBase
        else { return [] }
        return [block("\(reactor.modifier)var initialState: State", ["State()"])]
    }

    /// The members for the reactor's children: registration, paths and reactions.
    private static func childMembers(of reactor: ReactorType) -> [Lines] {
        var members: [Lines] = []
        if !reactor.childProperties.isEmpty, reactor.functions(named: "children").isEmpty {
            members.append(
                block(
                    "\(reactor.modifier)func children(_ visitor: inout ChildVisitor)",
                    reactor.mountedProperties.map(\.visitLine)))
            if reactor.functions(named: "childPaths").isEmpty {
                let type = reactor.name.text
                members.append(
                    block(
                        "\(reactor.modifier)static func childPaths("
                            + "_ visitor: inout ChildPathVisitor<\(type)>)",
                        reactor.mountedProperties.map { $0.pathLine(in: type) }))
            }
        }
        let reactions = reactor.reactions.filter { $0.problem(in: reactor) == nil }
        if !reactions.isEmpty, reactor.functions(named: "react").isEmpty {
            members.append(ReactorReaction.member(reactions, of: reactor))
        }
        let isReacting = !reactions.isEmpty || !reactor.functions(named: "react").isEmpty
        if isReacting, reactor.properties["isReacting"] == nil {
            members.append(
                block("\(reactor.modifier)static var isReacting: Swift.Bool", ["true"]))
        }
        return members
    }

    /// The members that describe the reactor to mirrors and tools.
    private static func describingMembers(of reactor: ReactorType) -> [Lines] {
        var members: [Lines] = []
        let documentation = docComment(reactor.declaration)
        if !documentation.isEmpty, reactor.properties["documentation"] == nil {
            members.append(
                block(
                    "\(reactor.modifier)static var documentation: Swift.String",
                    [stringLiteral(documentation)]))
        }
        if reactor.canMakeItself, reactor.functions(named: "makeForMirror").isEmpty {
            members.append(
                block("\(reactor.modifier)static func makeForMirror() -> Self", ["Self()"]))
        }
        return members
    }
}

extension ReactorMacro: MemberAttributeMacro {
    static func expansion(
        of node: AttributeSyntax, attachedTo declaration: some DeclGroupSyntax,
        providingAttributesFor member: some DeclSyntaxProtocol,
        in context: some MacroExpansionContext
    ) throws -> [AttributeSyntax] {
        guard member.is(StructDeclSyntax.self) || member.is(EnumDeclSyntax.self),
            let group = member.asProtocol((any DeclGroupSyntax).self),
            let named = member.asProtocol((any NamedDeclSyntax).self), !codesItself(group)
        else { return [] }
        let name = plainName(named.name)
        if ReactorType.parts.contains(name) { return ["@WireCodable"] }
        // The member role reports a type that an encoded part contains and that is not codable.
        // With the attribute, the compiler does not report it again.
        let silent = SilentContext(context)
        guard let reactor = ReactorType(declaration, in: silent) else { return [] }
        let checks = ReactorChecks(reactor: reactor, context: silent)
        let isReported = !refuseUncoded([group], mentioned: checks.payloadTypes(), in: silent)
        return isReported ? ["@WireCodable"] : []
    }
}

/// Whether the author has chosen the type's coding.
func codesItself(_ type: any DeclGroupSyntax) -> Bool {
    let isMarked = type.attributes.contains { element in
        guard case .attribute(let attribute) = element else { return false }
        return attributeName(attribute) == "WireCodable"
    }
    return isMarked || conformsItself(type)
}

/// Whether the declaration of the type contains the conformance.
func conformsItself(_ type: any DeclGroupSyntax) -> Bool {
    let inherited = type.inheritanceClause?.inheritedTypes ?? []
    return inherited.contains { $0.type.trimmedDescription.hasSuffix("WireCodable") }
}

extension ReactorMacro: ExtensionMacro {
    /// The protocols of the extension; the second if the type can be made without arguments.
    static var conformances: [TypeSyntax] { ["Reactor", "MirrorableReactor"] }

    static func expansion(
        of node: AttributeSyntax, attachedTo declaration: some DeclGroupSyntax,
        providingExtensionsOf type: some TypeSyntaxProtocol, conformingTo protocols: [TypeSyntax],
        in context: some MacroExpansionContext
    ) throws -> [ExtensionDeclSyntax] {
        let silent = SilentContext(context)
        guard let reactor = ReactorType(declaration, in: silent),
            ReactorChecks(reactor: reactor, context: silent).canConform()
        else { return [] }
        let isMirrorable =
            reactor.canMakeItself || !reactor.functions(named: "makeForMirror").isEmpty
        let wanted = protocols.map(lastName).filter { isMirrorable || $0 == "Reactor" }
        guard !wanted.isEmpty else { return [] }
        return extensionDeclaration("\(type.trimmed): \(wanted.joined(separator: ", "))")
    }
}
