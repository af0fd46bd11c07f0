import SwiftSyntax
import SwiftSyntaxBuilder
import SwiftSyntaxMacros

/// `@ReactorState`: records which fields of a state change.
///
/// As member attribute it adds accessors to each field that mark it; as member it adds the marks
/// and the functions that read them; as extension it adds the conformance.
struct ReactorStateMacro: MemberMacro, FormattedMacro {
    static func expansion(
        of node: AttributeSyntax, providingMembersOf declaration: some DeclGroupSyntax,
        conformingTo protocols: [TypeSyntax], in context: some MacroExpansionContext
    ) throws -> [DeclSyntax] {
        guard declaration.is(StructDeclSyntax.self) else {
            context.refuse(
                declaration.introducer, "notAState",
                "@ReactorState works on a struct: a state is a value")
            return []
        }
        let state = ReactorStateType(declaration, in: context)
        guard state.isComplete else { return [] }
        return [marks(state), drain(state), fields(state)].map {
            DeclSyntax(stringLiteral: $0.text)
        }
    }

    // A private property would make the memberwise initialiser private.
    private static func marks(_ state: ReactorStateType) -> Lines {
        let prefix = state.access.isInlinable ? "@usableFromInline " : ""
        return ["\(prefix)var _marks = StateMarks()"]
    }

    private static func drain(_ state: ReactorStateType) -> Lines {
        let notes = state.fields.map { field in
            "drain.\(field.isIgnored ? "noteIgnored" : "note")"
                + "(\(field.index), \(stringLiteral(field.name)), &self.\(field.storage))"
        }
        return block(
            "\(state.access.modifier)mutating func drainChanges(as part: StatePart) -> StateChanges",
            ["\(notes.isEmpty ? "let" : "var") drain = StateDrain(&self._marks, as: part)"] + notes
                + ["return drain.changes"])
    }

    private static func fields(_ state: ReactorStateType) -> Lines {
        let lines = state.fields.flatMap { field -> Lines in
            let start = "TrackedField(\(field.index), \(stringLiteral(field.name)), "
            let end = field.isIgnored ? ", isIgnored: true)," : "),"
            let plain = start + "\\Self.\(field.identifier)" + end
            return field.isPulse ? [plain, start + "\\Self.$\(field.name)" + end] : [plain]
        }
        return block(
            "\(state.access.modifier)static var trackedFields: [TrackedField<Self>]",
            lines.isEmpty ? ["[]"] : ["["] + lines.indented + ["]"])
    }
}

extension ReactorStateMacro: MemberAttributeMacro {
    static func expansion(
        of node: AttributeSyntax, attachedTo declaration: some DeclGroupSyntax,
        providingAttributesFor member: some DeclSyntaxProtocol,
        in context: some MacroExpansionContext
    ) throws -> [AttributeSyntax] {
        guard declaration.is(StructDeclSyntax.self),
            let variable = member.as(VariableDeclSyntax.self),
            case .field(let read) = ReactorStateField.read(variable), !read.isPulse
        else { return [] }
        let state = ReactorStateType(declaration, in: SilentContext(context))
        // Accessors use the marks, which a state with a mistake does not have.
        guard state.isComplete, let field = state.field(variable) else { return [] }
        // The expansion of the field does not see the other fields.
        let end = state.hidesBodies ? ", isInlinable: false" : ""
        return ["@ReactorStateField(\(raw: field.index)\(raw: end))"]
    }
}

extension ReactorStateMacro: ExtensionMacro {
    /// The protocol that the extension conforms the type to.
    static var conformance: TypeSyntax { "TrackedState" }

    static func expansion(
        of node: AttributeSyntax, attachedTo declaration: some DeclGroupSyntax,
        providingExtensionsOf type: some TypeSyntaxProtocol, conformingTo protocols: [TypeSyntax],
        in context: some MacroExpansionContext
    ) throws -> [ExtensionDeclSyntax] {
        let state = ReactorStateType(declaration, in: SilentContext(context))
        guard !protocols.isEmpty, declaration.is(StructDeclSyntax.self), state.isComplete else {
            return []
        }
        return extensionDeclaration("\(type.trimmed): \(conformance)")
    }
}

/// `@ReactorStateField`: the accessors of one field, and the storage behind them.
struct ReactorStateFieldMacro: AccessorMacro, FormattedMacro {
    static func expansion(
        of node: AttributeSyntax, providingAccessorsOf declaration: some DeclSyntaxProtocol,
        in context: some MacroExpansionContext
    ) throws -> [AccessorDeclSyntax] {
        guard let variable = declaration.as(VariableDeclSyntax.self),
            case .field(let field) = ReactorStateField.read(variable),
            case .argumentList(let arguments)? = node.arguments,
            let index = arguments.first?.expression.trimmedDescription
        else { return [] }
        let prefix = isInlinable(node, context) ? "@inlinable " : ""
        let storage = field.storage
        let accessors: [Lines] = [
            ["@storageRestrictions(initializes: \(storage))"]
                + block("\(prefix)init(initialValue)", ["\(storage) = initialValue"]),
            block("\(prefix)get", [storage]),
            block(
                "\(prefix)set",
                [
                    "if StateMarks.differ(\(storage), newValue) { _marks.mark(\(index)) }",
                    "\(storage) = newValue",
                ]),
            block("\(prefix)_modify", ["_marks.mark(\(index))", "yield &\(storage)"]),
        ]
        return accessors.map { "\(raw: $0.indented.text)" }
    }

    /// Whether the enclosing state, and all enclosing declarations, are public, and the attribute
    /// does not say otherwise.
    fileprivate static func isInlinable(
        _ node: AttributeSyntax, _ context: some MacroExpansionContext
    ) -> Bool {
        guard let state = context.lexicalContext.first?.as(StructDeclSyntax.self),
            case .argumentList(let arguments)? = node.arguments
        else { return false }
        return WireAccess(state.modifiers, in: Array(context.lexicalContext.dropFirst()))
            .isInlinable && !arguments.contains { $0.label?.text == "isInlinable" }
    }
}

extension ReactorStateFieldMacro: PeerMacro {
    static func expansion(
        of node: AttributeSyntax, providingPeersOf declaration: some DeclSyntaxProtocol,
        in context: some MacroExpansionContext
    ) throws -> [DeclSyntax] {
        guard let variable = declaration.as(VariableDeclSyntax.self),
            case .field(let field) = ReactorStateField.read(variable),
            let binding = variable.bindings.first
        else { return [] }
        let type = binding.typeAnnotation.map { ": \($0.type.trimmedDescription)" } ?? ""
        let value = binding.initializer.map { " = \($0.value.trimmedDescription)" } ?? ""
        let prefix = isInlinable(node, context) ? "@usableFromInline " : "private "
        return ["\(raw: prefix)var \(raw: field.storage)\(raw: type)\(raw: value)"]
    }
}

/// `@Ignored` and `@NotTransmitted`: markers on a property, without an expansion.
struct ReactorStateMarkerMacro: PeerMacro {
    static func expansion(
        of node: AttributeSyntax, providingPeersOf declaration: some DeclSyntaxProtocol,
        in context: some MacroExpansionContext
    ) throws -> [DeclSyntax] {
        guard let variable = declaration.as(VariableDeclSyntax.self), isInstance(variable),
            variable.bindings.contains(where: { !isComputed($0) })
        else {
            context.refuse(
                node, "notAField",
                "@\(attributeName(node)) applies to a stored property of a struct")
            return []
        }
        return []
    }
}
