import SwiftSyntax
import SwiftSyntaxMacros

/// What an author may get wrong and the compiler would not tell, or not in the reactor's words.
///
/// Every requirement of the protocol but two has a default, so that a function with a label, a type
/// or a `throws` of its own is no error to the compiler: the default would be used in its place,
/// and the function never called.
struct ReactorChecks {
    var reactor: ReactorType
    var context: any MacroExpansionContext

    /// Tells the author of every mistake; whether there was none.
    @discardableResult
    func run() -> Bool {
        // because each of these is to be told, not only the first
        let results = [
            checkPlace(), checkNested(), checkInitialState(), checkFunctions(), checkChildren(),
        ]
        return results.allSatisfy { $0 }
    }

    private func refuse(_ node: some SyntaxProtocol, _ id: String, _ message: String) -> Bool {
        context.refuse(node, id, message)
        return false
    }
}

// MARK: - Where the reactor stands
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
        if reactor.declaration.is(ClassDeclSyntax.self), !has("final", reactor.declaration) {
            return refuse(
                reactor.name, "openClass",
                "a reactor's rules are fixed when it is mounted; declare it as a final class")
        }
        return isReachable(reactor.declaration, in: context)
    }

    private func has(_ word: String, _ declaration: any DeclGroupSyntax) -> Bool {
        declaration.modifiers.contains { $0.name.text == word }
    }
}

// MARK: - The types it is made of
extension ReactorChecks {
    private func checkNested() -> Bool {
        var isFine = true
        for part in ["Action", "State"] where reactor.nested[part] == nil && !isInferred(part) {
            let kind = part == "State" ? "struct" : "enum"
            isFine = refuse(
                reactor.name, "missing\(part)",
                "\(reactor.name.text) has no \(part); declare \(kind) \(part) in its body (a type "
                    + "that an extension declares is not seen)")
        }
        for part in ReactorType.parts.sorted() {
            guard let type = reactor.nested[part] else { continue }
            if let classDecl = type.as(ClassDeclSyntax.self) {
                isFine = refuse(
                    classDecl.classKeyword, "objectPart",
                    "\(part) travels between processes as a value; declare it as a struct or an "
                        + "enum")
            }
            if let modifiers = type.asProtocol((any WithModifiersSyntax).self)?.modifiers,
                visibility(modifiers, default: "internal")
                    < visibility(reactor.declaration.modifiers, default: "internal")
            {
                let needed = accessKeyword(reactor.declaration.modifiers) ?? "internal"
                isFine = refuse(
                    modifiers.first.map { Syntax($0) } ?? Syntax(type), "hidden\(part)",
                    "\(part) is less visible than \(reactor.name.text), whose clients use it; "
                        + "declare it \(needed)")
            }
        }
        return isFine
    }

    /// Whether a part that is not declared follows from the types of a function or a property.
    private func isInferred(_ part: String) -> Bool {
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

    private func visibility(_ modifiers: DeclModifierListSyntax, default: String) -> Int {
        let levels = ["private", "fileprivate", "internal", "package", "public", "open"]
        let level = levels.firstIndex(of: accessKeyword(modifiers) ?? `default`) ?? 2
        // because private at file scope is fileprivate; a private nested type is refused elsewhere
        return max(level, 1)
    }

    private func checkInitialState() -> Bool {
        guard reactor.properties["initialState"] == nil, reactor.nested["State"] != nil,
            !reactor.stateHasDefault
        else { return true }
        return refuse(
            reactor.name, "initialState",
            "\(reactor.name.text) does not say which state it starts with; give every property of "
                + "State a value, or declare var initialState: State")
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
}

/// The last component of a type's name, without `inout`.
func lastName(_ type: TypeSyntax) -> String {
    if let attributed = type.as(AttributedTypeSyntax.self) { return lastName(attributed.baseType) }
    if let member = type.as(MemberTypeSyntax.self) { return member.name.text }
    return type.trimmedDescription
}
