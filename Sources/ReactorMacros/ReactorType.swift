import SwiftSyntax
import SwiftSyntaxMacros

/// The declaration that `@Reactor` is attached to.
struct ReactorType {
    /// The nested types of a reactor; each becomes codable where it is declared.
    static let parts: Set<String> = ["Action", "Mutation", "State", "Reply"]

    /// A `@Child`, `@Children` or `@Derived` property.
    struct ChildProperty {
        /// `child`, `children` or `derived`: the visitor's verb.
        var verb: String
        var name: WireBytes
        var node: VariableDeclSyntax

        /// The type of the keys of a collection, as far as its declaration states one.
        var keyType: String {
            let closure = node.bindings.first?.initializer?.value.as(ClosureExprSyntax.self)
            guard case .parameterClause(let clause)? = closure?.signature?.parameterClause else {
                return "WireKey"
            }
            return clause.parameters.first?.type?.trimmedDescription ?? "WireKey"
        }

        /// Whether it is a derived value, which is mounted after the children that it depends on.
        var isDerived: Bool { verb == "derived" }

        /// The line that mounts the child.
        var visitLine: String {
            var arguments = "\(stringLiteral(name.text)), self._\(name.text)"
            let documentation = isDerived ? docComment(node) : ""
            if !documentation.isEmpty {
                arguments += ", documentation: \(stringLiteral(documentation))"
            }
            return "visitor.\(verb)(\(arguments))"
        }

        /// The line that registers the child's key paths, from the reactor called `type`.
        func pathLine(in type: String) -> String {
            let (plain, handle) = ("\\\(type).\(name.text)", "\\\(type).$\(name.text)")
            let paths = verb == "child" ? "\(plain), \(handle)" : handle
            return "visitor.\(verb)(\(stringLiteral(name.text)), \(paths))"
        }
    }

    var declaration: any DeclGroupSyntax
    var name: TokenSyntax
    /// `public `, `package ` or empty.
    var modifier: String
    /// Functions with `@Reacts`.
    var reactions: [ReactorReaction] = []
    /// Types declared in the body, by name.
    var nested: [String: any DeclSyntaxProtocol] = [:]
    var functions: [FunctionDeclSyntax] = []
    /// The properties declared in the body, by name.
    var properties: [String: VariableDeclSyntax] = [:]
    var childProperties: [ChildProperty] = []

    /// The child properties in the order in which they are mounted.
    var mountedProperties: [ChildProperty] {
        childProperties.filter { !$0.isDerived } + childProperties.filter(\.isDerived)
    }

    /// The type arguments of the superclass `BaseReactor`, in order.
    private let baseArguments: [TypeSyntax]?

    /// Reads `declaration`; `nil` if it is neither a struct nor a class.
    init?(_ declaration: some DeclGroupSyntax, in context: some MacroExpansionContext) {
        if let type = declaration.as(StructDeclSyntax.self) {
            name = type.name
        } else if let type = declaration.as(ClassDeclSyntax.self) {
            name = type.name
        } else {
            return nil
        }
        self.declaration = declaration
        baseArguments = ReactorType.baseArguments(of: declaration)
        modifier = WireAccess(declaration.modifiers, in: context.lexicalContext).modifier
        for member in declaration.memberBlock.members { read(member.decl) }
    }

    private mutating func read(_ member: DeclSyntax) {
        if let function = member.as(FunctionDeclSyntax.self) {
            functions.append(function)
            for case .attribute(let attribute) in function.attributes
            where attributeName(attribute) == "Reacts" {
                reactions.append(ReactorReaction(attribute: attribute, function: function))
            }
        } else if let variable = member.as(VariableDeclSyntax.self) {
            read(variable)
        } else if let alias = member.as(TypeAliasDeclSyntax.self) {
            nested[plainName(alias.name)] = alias
        } else if let group = member.asProtocol((any DeclGroupSyntax).self),
            let named = member.asProtocol((any NamedDeclSyntax).self)
        {
            nested[plainName(named.name)] = group
        }
    }

    private mutating func read(_ variable: VariableDeclSyntax) {
        for binding in variable.bindings {
            guard let pattern = binding.pattern.as(IdentifierPatternSyntax.self) else { continue }
            let name = plainName(pattern.identifier)
            properties[name] = variable
            for case .attribute(let attribute) in variable.attributes {
                guard
                    let verb = ["Child": "child", "Children": "children", "Derived": "derived"][
                        attributeName(attribute)]
                else { continue }
                childProperties.append(
                    ChildProperty(verb: verb, name: WireBytes(name), node: variable))
            }
        }
    }

    private static func baseArguments(of declaration: some DeclGroupSyntax) -> [TypeSyntax]? {
        guard let type = declaration.as(ClassDeclSyntax.self),
            let parent = type.inheritanceClause?.inheritedTypes.first?.type
        else { return nil }
        let clause: GenericArgumentClauseSyntax?
        if let member = parent.as(MemberTypeSyntax.self), member.name.text == "BaseReactor" {
            clause = member.genericArgumentClause
        } else if let plain = parent.as(IdentifierTypeSyntax.self),
            plain.name.text == "BaseReactor"
        {
            clause = plain.genericArgumentClause
        } else {
            return nil
        }
        return clause?.arguments.compactMap { argument in
            guard case .type(let type) = argument.argument else { return nil }
            return type
        } ?? []
    }

    /// Whether the reactor is a subclass of `BaseReactor`.
    var inheritsBase: Bool { baseArguments != nil }

    /// Whether the reactor is a subclass of another class, which may declare any of the reactor's
    /// parts. Only a subclass has overrides, and only an unknown class or protocol has type
    /// arguments.
    var inheritsUnknownBase: Bool {
        guard !inheritsBase, let type = declaration.as(ClassDeclSyntax.self),
            let parent = type.inheritanceClause?.inheritedTypes.first?.type
        else { return false }
        let clause =
            parent.as(MemberTypeSyntax.self)?.genericArgumentClause
            ?? parent.as(IdentifierTypeSyntax.self)?.genericArgumentClause
        let known = ["Reactor", "MirrorableReactor", "HandlingReactor"]
        let isGeneric =
            clause != nil
            && !known.contains { lastName(parent).hasPrefix("\($0)<") || lastName(parent) == $0 }
        return isGeneric
            || type.memberBlock.members.contains { member in
                let modifiers = member.decl.asProtocol((any WithModifiersSyntax).self)?.modifiers
                return modifiers?.contains { $0.name.text == "override" } ?? false
            }
    }

    /// Whether a part is declared as an alias of `type`; `Action?` is optional then, too.
    func isAlias(_ part: String, of type: TypeSyntax) -> Bool {
        let isOptional = part.hasSuffix("?")
        let name = isOptional ? String(part.dropLast()) : part
        guard let alias = nested[name] as? TypeAliasDeclSyntax else { return false }
        let target = plainText(alias.initializer.value)
        return plainText(type) == (isOptional ? target + "?" : target)
    }

    /// A type as in the source, without spaces and without specifiers.
    private func plainText(_ type: TypeSyntax) -> String {
        if let attributed = type.as(AttributedTypeSyntax.self) {
            return plainText(attributed.baseType)
        }
        return type.trimmedDescription.filter { !$0.isWhitespace }
    }

    /// The type argument of the base class for a part.
    func baseArgument(_ part: String) -> TypeSyntax? {
        guard let baseArguments, baseArguments.count == 3,
            let index = ["Action", "Mutation", "State"].firstIndex(of: part)
        else { return nil }
        return baseArguments[index]
    }

    /// The functions of one name.
    func functions(named name: String) -> [FunctionDeclSyntax] {
        functions.filter { plainName($0.name) == name }
    }

    /// Whether `State()` compiles: every stored property has a default value.
    var stateHasDefault: Bool {
        guard let state = nested["State"] as? StructDeclSyntax else { return false }
        let members = state.memberBlock.members.map(\.decl)
        let initializers = members.compactMap { $0.as(InitializerDeclSyntax.self) }
        if !initializers.isEmpty {
            return initializers.contains { $0.signature.parameterClause.parameters.isEmpty }
        }
        return members.compactMap { $0.as(VariableDeclSyntax.self) }.allSatisfy { variable in
            !isInstance(variable) || variable.bindings.allSatisfy { hasInitialValue($0, variable) }
        }
    }
}

/// Whether a stored property has a value without an initializer.
func hasInitialValue(
    _ binding: PatternBindingSyntax, _ variable: VariableDeclSyntax
) -> Bool {
    if isComputed(binding) || binding.initializer != nil { return true }
    // An optional variable, unlike a constant, starts as nil.
    return variable.bindingSpecifier.tokenKind == .keyword(.var)
        && binding.typeAnnotation?.type.is(OptionalTypeSyntax.self) == true
}

/// The labels of a function's parameters, as in `(action:state:)`.
func labels(_ function: FunctionDeclSyntax) -> String {
    "(" + function.signature.parameterClause.parameters.map { $0.firstName.text + ":" }.joined()
        + ")"
}
