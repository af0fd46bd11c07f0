import SwiftSyntax
import SwiftSyntaxMacros

/// Checks for mistakes that the compiler does not report, or not in terms of reactors.
///
/// All but two requirements of the protocol have a default. So a function with a label, a type or a
/// `throws` of its own compiles, but the runtime calls the default instead of it.
struct ReactorChecks {
    var reactor: ReactorType
    var context: any MacroExpansionContext

    /// Reports every mistake. Returns whether there was none.
    @discardableResult
    func run() -> Bool {
        // Runs all checks, so that all mistakes are reported, not only the first.
        let results = [
            checkPlace(), checkMissing(), checkNested(), checkPayloads(), checkInitialState(),
            checkFunctions(), checkProperties(), checkChildren(), checkReactions(),
        ]
        return results.allSatisfy { $0 }
    }

    /// Whether the reactor can conform to its protocol, perhaps with mistakes in its functions or
    /// with a missing part, which the macro replaces. A reactor that conforms gets no further errors
    /// where it is used.
    func canConform() -> Bool {
        [checkPlace(), checkNested(), checkInitialState()].allSatisfy { $0 }
    }

    func refuse(
        _ node: some SyntaxProtocol, _ id: String, _ message: String, fix: SourceFix? = nil
    ) -> Bool {
        context.refuse(node, id, message, fix: fix)
        return false
    }
}

// MARK: - The place of the reactor
extension ReactorChecks {
    private func checkPlace() -> Bool {
        let isInFunction = context.lexicalContext.contains { node in
            node.is(FunctionDeclSyntax.self) || node.is(ClosureExprSyntax.self)
                || node.is(AccessorDeclSyntax.self) || node.is(InitializerDeclSyntax.self)
        }
        if isInFunction {
            return refuse(
                reactor.name, "localReactor",
                "a reactor inside a function cannot conform; declare it at file scope or in a type")
        }
        if let type = reactor.declaration.as(ClassDeclSyntax.self), !has("final", type.modifiers) {
            let open = type.modifiers.first { $0.name.text == "open" }
            return refuse(
                reactor.name, "openClass",
                "a reactor's rules are fixed when it is mounted; declare it as a final class",
                fix: open.map { .replace($0, with: "public final", "declare it public final") }
                    ?? .insert("final ", before: type.classKeyword, "insert 'final'"))
        }
        return isReachable(reactor.declaration, in: context)
    }

    private func has(_ word: String, _ modifiers: DeclModifierListSyntax) -> Bool {
        modifiers.contains { $0.name.text == word }
    }

    // MARK: The nested types

    /// The parts that the reactor does not have.
    var missingParts: [String] {
        ["Action", "State"].filter { reactor.nested[$0] == nil && !isInferred($0) }
    }

    private func checkMissing() -> Bool {
        var isFine = true
        for part in missingParts {
            let kind = part == "State" ? "struct" : "enum"
            isFine = refuse(
                reactor.name, "missing\(part)",
                "\(reactor.name.text) has no \(part); declare \(kind) \(part) in its body (a type "
                    + "that an extension declares is not seen)",
                fix: .member(stub(part), of: reactor.declaration, "insert \(kind) \(part)"))
        }
        return isFine
    }

    private func checkNested() -> Bool {
        var isFine = true
        for part in ReactorType.parts.sorted() {
            guard let type = reactor.nested[part] else { continue }
            if let object = type.as(ClassDeclSyntax.self) {
                isFine = refuse(
                    object.classKeyword, "objectPart",
                    "\(part) travels between processes as a value; declare it as a struct or an "
                        + "enum",
                    fix: .structure(insteadOf: object))
            }
            isFine = checkVisibility(of: part, type) && isFine
        }
        return isFine
    }

    /// The declaration of a missing part, for a fix.
    private func stub(_ part: String) -> Lines {
        // Unlike other types, a public one is not implicitly Sendable.
        let sendable = ["public ", "package "].contains(reactor.modifier) ? ": Sendable" : ""
        let head = reactor.modifier + (part == "State" ? "struct" : "enum") + " \(part)\(sendable)"
        return part == "State" ? [head + " {}"] : block(head, ["case <#name#>"])
    }

    private func checkVisibility(of part: String, _ type: any DeclSyntaxProtocol) -> Bool {
        guard let modifiers = type.asProtocol((any WithModifiersSyntax).self)?.modifiers,
            visibility(modifiers, default: "internal")
                < visibility(reactor.declaration.modifiers, default: "internal")
        else { return true }
        let own = accessKeyword(reactor.declaration.modifiers) ?? "internal"
        let needed = own == "open" ? "public" : own
        return refuse(
            modifiers.first.map { Syntax($0) } ?? Syntax(type), "hidden\(part)",
            "\(part) is less visible than \(reactor.name.text), whose clients use it; "
                + "declare it \(needed)",
            fix: .access(needed, of: type))
    }

    /// Whether the types of a function or a property determine an undeclared part.
    private func isInferred(_ part: String) -> Bool {
        // The base class has the types as arguments; they may be declared elsewhere.
        if let argument = reactor.baseArgument(part) { return !names(argument, part) }
        if reactor.inheritsUnknownBase { return true }
        switch part {
        case "Action":
            return reactor.functions(named: "mutate").contains { function in
                guard let first = function.signature.parameterClause.parameters.first else {
                    return false
                }
                return lastName(first.type) != "Action"
            }
        default:
            let binding = reactor.properties["initialState"]?.bindings.first
            guard let type = binding?.typeAnnotation?.type else { return false }
            return lastName(type) != "State"
        }
    }

    /// Whether a type is the reactor's nested type of that name.
    private func names(_ type: TypeSyntax, _ part: String) -> Bool {
        guard let member = type.as(MemberTypeSyntax.self), member.name.text == part else {
            return false
        }
        let base = member.baseType.as(IdentifierTypeSyntax.self)?.name
        return base.map(plainName) == plainName(reactor.name)
    }

    private func visibility(_ modifiers: DeclModifierListSyntax, default: String) -> Int {
        let levels = ["private", "fileprivate", "internal", "package", "public"]
        let word = accessKeyword(modifiers) ?? `default`
        // Only a class may be open, and its members are public then.
        let level = levels.firstIndex(of: word == "open" ? "public" : word) ?? 2
        // Private at file scope is fileprivate; a private nested type is refused elsewhere.
        return max(level, 1)
    }

    private func checkInitialState() -> Bool {
        guard reactor.properties["initialState"] == nil, let state = reactor.nested["State"],
            !reactor.stateHasDefault, !reactor.inheritsBase, !reactor.inheritsUnknownBase
        else { return true }
        let silent = SilentContext(context)
        let fields = (state as? StructDeclSyntax).flatMap { storedFields($0, in: silent) }
        let values = (fields ?? []).filter { $0.defaultValue == nil }
            .map { "\($0.identifier): <#\($0.type)#>" }.joined(separator: ", ")
        let value = fields == nil ? "<#State#>" : "State(\(values))"
        let property = "\(reactor.modifier)var initialState: State { \(value) }"
        return refuse(
            reactor.name, "initialState",
            "\(reactor.name.text) has no initial state; give every property of "
                + "State a value, or declare var initialState: State",
            fix: .member([property], of: reactor.declaration, "insert initialState"))
    }

    private func checkChildren() -> Bool {
        var isFine = true
        let fields = (reactor.nested["State"] as? StructDeclSyntax).flatMap {
            storedFields($0, in: SilentContext(context))
        }
        let names = Set((fields ?? []).map(\.name))
        for child in reactor.childProperties where names.contains(child.name) {
            isFine = refuse(
                child.node, "childIsField",
                "child \"\(child.name.text)\" has the name of a field of State, and a path could "
                    + "mean either; rename one")
        }
        return isFine
    }

    // MARK: Contents of the parts

    /// Whether each nested type that a part contains is marked as encodable, too.
    private func checkPayloads() -> Bool {
        let nested = reactor.declaration.memberBlock.members.compactMap { member in
            member.decl.asProtocol((any DeclGroupSyntax).self)
        }
        return refuseUncoded(nested, mentioned: payloadTypes(), in: context)
    }

    /// The names of the nested types that the parts contain.
    func payloadTypes() -> Set<String> {
        let silent = SilentContext(context)
        var pending = ReactorType.parts.sorted().filter { reactor.nested[$0] != nil }
        var mentioned: Set<String> = []
        while let name = pending.popLast() {
            let words = reactor.nested[name].map { payloadWords($0, in: silent) } ?? []
            for word in words.subtracting(mentioned) where reactor.nested[word] != nil {
                mentioned.insert(word)
                pending.append(word)
            }
        }
        return mentioned.subtracting(ReactorType.parts)
    }

    // MARK: Reactions

    /// Whether the runtime can call each function with `@Reacts`, and none is called twice.
    func checkReactions() -> Bool {
        var isFine = true
        var seen: Set<String> = []
        for reaction in reactor.reactions {
            if !reactor.functions(named: "react").isEmpty {
                isFine = refuse(
                    reaction.attribute, "reactionTwice",
                    "@Reacts generates react(to:state:), and the reactor has one already; "
                        + "remove one of the two")
            } else if let problem = reaction.problem(in: reactor) {
                isFine = refuse(problem.node, problem.id, problem.message, fix: problem.fix)
            } else if let child = reaction.child(in: reactor),
                !seen.insert(child.name.text).inserted
            {
                isFine = refuse(
                    reaction.attribute, "reactionRepeated",
                    "another function reacts to \(child.name.text), and this one would never be "
                        + "called; make them one")
            }
        }
        return isFine
    }
}

/// The last component of a type's name, without `inout`.
func lastName(_ type: TypeSyntax) -> String {
    if let attributed = type.as(AttributedTypeSyntax.self) { return lastName(attributed.baseType) }
    if let optional = type.as(OptionalTypeSyntax.self) {
        return lastName(optional.wrappedType) + "?"
    }
    if let member = type.as(MemberTypeSyntax.self) { return member.name.text }
    return type.trimmedDescription
}
