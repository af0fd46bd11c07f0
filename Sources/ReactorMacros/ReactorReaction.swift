import SwiftSyntax
import SwiftSyntaxMacros

/// A function with `@Reacts`: a reactor's decision on a child's mutation.
struct ReactorReaction {
    var attribute: AttributeSyntax
    var function: FunctionDeclSyntax

    /// The possible labels of the function, by the verb of its child.
    private static let forms = [
        "child": ["(_:state:)", "(_:)", "(_:state:context:)", "(_:context:)"],
        "children": [
            "(_:key:state:)", "(_:key:)", "(_:key:state:context:)", "(_:key:context:)",
        ],
    ]

    /// Whether the function has a parameter `context`.
    private var takesContext: Bool {
        function.signature.parameterClause.parameters.contains { $0.firstName.text == "context" }
    }

    /// The key path to the child's handle.
    private var path: KeyPathExprSyntax? {
        guard case .argumentList(let arguments) = attribute.arguments else { return nil }
        return arguments.first?.expression.as(KeyPathExprSyntax.self)
    }

    /// The name of the child property; `nil` if the key path leads elsewhere.
    private var childName: String? {
        guard let last = path?.components.last,
            case .property(let property) = last.component
        else { return nil }
        let name = property.declName.baseName.text
        return name.hasPrefix("$") ? String(name.dropFirst()) : nil
    }

    /// The child that the function reacts to.
    func child(in reactor: ReactorType) -> ReactorType.ChildProperty? {
        childName.flatMap { name in reactor.childProperties.first { $0.name.text == name } }
    }
}

// MARK: - The expansion
extension ReactorReaction {
    /// The `react(to:state:)` that calls each of `reactions`, with a context if one takes it.
    static func member(_ reactions: [ReactorReaction], of reactor: ReactorType) -> Lines {
        let first = reactions.compactMap(\.function.signature.returnClause).first
        let result = first?.type.trimmedDescription ?? "Mutations<Mutation>"
        let body = reactions.flatMap { $0.lines(in: reactor) } + ["return .none"]
        var parameters = "to change: ChildChange, state: State"
        if reactions.contains(where: \.takesContext) {
            parameters += ", context: ReactorContext<\(reactor.name.text)>"
        }
        return block("\(reactor.modifier)func react(\(parameters)) -> \(result)", body)
    }

    private func lines(in reactor: ReactorType) -> Lines {
        guard let child = child(in: reactor) else { return [] }
        let found = child.verb == "child" ? "mutation" : "(key, mutation)"
        let values = [
            "_": "mutation", "key": "key: key", "state": "state: state",
            "context": "context: context",
        ]
        let arguments = function.signature.parameterClause.parameters
            .compactMap { values[$0.firstName.text] }.joined(separator: ", ")
        return block(
            "if let \(found) = change.mutation(of: self.$\(child.name.text))",
            ["return self.\(function.name.text)(\(arguments))"])
    }
}

// MARK: - Problems
extension ReactorReaction {
    /// The reason why the runtime cannot call the function; `nil` if it can.
    func problem(in reactor: ReactorType) -> RuleProblem? {
        guard let name = childName else {
            let remedy = "@Reacts(to: \\\(reactor.name.text).$name)"
            return RuleProblem(
                attribute, "reactionPath",
                "@Reacts names a child by its handle; write \(remedy)")
        }
        guard let child = child(in: reactor) else {
            return RuleProblem(
                attribute, "reactionChild",
                "\(reactor.name.text) has no child \(name) in its body; declare it with @Child or "
                    + "@Children")
        }
        return shapeProblem(child) ?? effectProblem ?? resultProblem
    }

    private func shapeProblem(_ child: ReactorType.ChildProperty) -> RuleProblem? {
        if child.isDerived {
            return RuleProblem(
                attribute, "reactionDerived",
                "\(child.name.text) is a derived value and has no mutations; react to what it is "
                    + "computed from")
        }
        let forms = Self.forms[child.verb] ?? []
        guard !forms.contains(labels(function)) else { return nil }
        let key = child.verb == "child" ? "" : "key: \(child.keyType), "
        let name = function.name.text
        return RuleProblem(
            function.signature.parameterClause, "reactionLabels",
            "\(name)\(labels(function)) cannot react to \(child.name.text); write "
                + "func \(name)(_ mutation: …, \(key)state: State) -> Mutations<Mutation>")
    }

    private var effectProblem: RuleProblem? {
        let name = function.name.text
        if let word = function.modifiers.first(where: {
            ["static", "class", "mutating"].contains($0.name.text)
        }) {
            return RuleProblem(
                word, "reactionModifier",
                "\(name) is called on a reactor that does not change; remove \(word.name.text)",
                fix: .remove(word, "remove '\(word.name.text)'"))
        }
        let effects = function.signature.effectSpecifiers
        if let async = effects?.asyncSpecifier {
            return RuleProblem(
                async, "reactionAsync",
                "\(name) is part of the child's transaction; remove async, and give async work to "
                    + "Mutations(async:)",
                fix: .remove(async, "remove 'async'"))
        }
        if let clause = effects?.throwsClause {
            return RuleProblem(
                clause, "reactionThrows",
                "\(name) may not throw: the mutation is applied; refuse in the child's mutate",
                fix: .remove(clause, "remove '\(clause.trimmedDescription)'"))
        }
        return nil
    }

    private var resultProblem: RuleProblem? {
        guard function.signature.returnClause == nil else { return nil }
        return RuleProblem(
            function.name, "reactionResult",
            "\(function.name.text) reacts to a child's mutation; let it return "
                + "Mutations<Mutation>",
            fix: .insert(
                " -> Mutations<Mutation>", after: function.signature,
                "insert '-> Mutations<Mutation>'"))
    }
}
