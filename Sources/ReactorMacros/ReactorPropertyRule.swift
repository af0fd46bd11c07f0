import SwiftSyntax

/// A property of the protocol that has a default, so that one of another shape is no error to the
/// compiler: the default is read in its place.
struct ReactorPropertyRule {
    var name: String
    /// What it is a list of, each of the reactor's own: `Middleware` of `[Middleware<Self>]`.
    var element: String?
    /// Its type, where it is no list; then it is one of the type's own, and static.
    var type = ""
    /// Whether the name is a common word, which an author may use for a property of another kind.
    var isCommonWord = false

    var isStatic: Bool { element == nil }

    /// How to write it.
    var remedy: String {
        element.map { "var \(name): [\($0)<Self>]" } ?? "static var \(name): \(type)"
    }

    static let all = [
        ReactorPropertyRule(name: "middleware", element: "Middleware"),
        ReactorPropertyRule(name: "sagas", element: "Saga"),
        ReactorPropertyRule(name: "isReacting", type: "Bool"),
        ReactorPropertyRule(name: "version", type: "UInt32", isCommonWord: true),
        ReactorPropertyRule(name: "documentation", type: "String", isCommonWord: true),
    ]
}

// MARK: - What is wrong
extension ReactorChecks {
    /// Whether each property with the name of a rule is one that the runtime reads, and no other
    /// stands where it calls a function.
    func checkProperties() -> Bool {
        var problems: [RuleProblem] = []
        for rule in ReactorPropertyRule.all {
            if let variable = reactor.properties[rule.name] {
                problems += [problem(variable, rule)].compactMap { $0 }
            }
            for function in reactor.functions(named: rule.name) where rule.element != nil {
                problems += [functionProblem(function, rule)].compactMap { $0 }
            }
        }
        for name in Set(ReactorRule.all.map(\.name)).sorted() {
            problems += [callableProblem(name)].compactMap { $0 }
        }
        for problem in problems {
            context.refuse(problem.node, problem.id, problem.message, fix: problem.fix)
        }
        return problems.isEmpty
    }

    private func problem(
        _ variable: VariableDeclSyntax, _ rule: ReactorPropertyRule
    ) -> RuleProblem? {
        guard
            let binding = variable.bindings.first(where: { binding in
                let pattern = binding.pattern.as(IdentifierPatternSyntax.self)
                return pattern.map { plainName($0.identifier) } == rule.name
            })
        else { return nil }
        if let problem = wordProblem(variable, rule) { return problem }
        if rule.isStatic, !isShared(variable) { return instanceProblem(variable, binding, rule) }
        return rule.element.map { listProblem(binding, of: $0, rule) } ?? typeProblem(binding, rule)
    }

    /// A word that hides the property from those who read it.
    private func wordProblem(
        _ variable: VariableDeclSyntax, _ rule: ReactorPropertyRule
    ) -> RuleProblem? {
        if rule.isCommonWord { return nil }
        let refused = ["private", "fileprivate"] + (rule.isStatic ? [] : ["static", "class"])
        let outer = accessKeyword(reactor.declaration.modifiers)
        guard let word = variable.modifiers.first(where: { refused.contains($0.name.text) }),
            !(word.name.text == "fileprivate" && ["private", "fileprivate"].contains(outer))
        else { return nil }
        return RuleProblem(
            word, "propertyModifier",
            "\(rule.name) that is \(word.name.text) would never be read; remove the word",
            fix: .remove(word, "remove '\(word.name.text)'"))
    }

    private func isShared(_ variable: VariableDeclSyntax) -> Bool {
        variable.modifiers.contains { ["static", "class"].contains($0.name.text) }
    }

    /// A property of the instance where the type's own is read.
    private func instanceProblem(
        _ variable: VariableDeclSyntax, _ binding: PatternBindingSyntax,
        _ rule: ReactorPropertyRule
    ) -> RuleProblem? {
        // because a version, or a text, of the author's own is the author's business
        let isOwn =
            rule.type == "String" || binding.typeAnnotation.map { lastName($0.type) } != rule.type
        if rule.isCommonWord, isOwn { return nil }
        return RuleProblem(
            variable.bindingSpecifier, "propertyInstance",
            "\(rule.name) of an instance would never be read; write \(rule.remedy)",
            fix: .insert("static ", before: variable.bindingSpecifier, "insert 'static'"))
    }

    /// A type that is not the one that is read.
    private func typeProblem(
        _ binding: PatternBindingSyntax, _ rule: ReactorPropertyRule
    ) -> RuleProblem? {
        if let type = binding.typeAnnotation?.type {
            guard lastName(type) != rule.type else { return nil }
            return RuleProblem(
                type, "propertyType", never(type.trimmedDescription, rule),
                fix: .replace(type, with: rule.type, "write '\(rule.type)'"))
        }
        // because a whole number without a type is an Int
        guard rule.type == "UInt32",
            let value = binding.initializer?.value.as(IntegerLiteralExprSyntax.self)
        else { return nil }
        return RuleProblem(
            value, "propertyType", never("Int", rule),
            fix: .insert(": \(rule.type)", after: binding.pattern, "insert ': \(rule.type)'"))
    }

    private func never(_ type: String, _ rule: ReactorPropertyRule) -> String {
        "\(rule.name) that is \(type) would never be read; write \(rule.remedy)"
    }
}

// MARK: - Lists
extension ReactorChecks {
    /// A list that is none, or one of another reactor's.
    private func listProblem(
        _ binding: PatternBindingSyntax, of element: String, _ rule: ReactorPropertyRule
    ) -> RuleProblem? {
        guard let type = binding.typeAnnotation?.type else {
            guard let value = binding.initializer?.value, makes(element, value) else { return nil }
            return RuleProblem(
                value, "propertyType", never("one \(element)", rule),
                fix: .replace(value, with: "[\(value.trimmedDescription)]", "write a list"))
        }
        let message = never(type.trimmedDescription, rule)
        let list = "[\(element)<Self>]"
        if let optional = type.as(OptionalTypeSyntax.self), isList(optional.wrappedType) {
            return RuleProblem(
                type, "propertyType", message,
                fix: .replace(
                    type, with: optional.wrappedType.trimmedDescription,
                    "remove '?'"))
        }
        if type.is(FunctionTypeSyntax.self) {
            return RuleProblem(type, "propertyType", message)
        }
        if let one = type.as(IdentifierTypeSyntax.self), one.name.text == element {
            var fix = SourceFix.replace(type, with: list, "write '\(list)'")
            if let value = binding.initializer?.value {
                fix = fix.and(.replace(value, with: "[\(value.trimmedDescription)]", ""))
            }
            return RuleProblem(type, "propertyType", message, fix: fix)
        }
        guard let argument = argument(ofListOf: element, type), !isOwn(argument) else { return nil }
        return RuleProblem(
            argument, "propertyType", message,
            fix: .replace(argument, with: "Self", "write 'Self'"))
    }

    private func isList(_ type: TypeSyntax) -> Bool {
        type.is(ArrayTypeSyntax.self)
            || type.as(IdentifierTypeSyntax.self)?.name.text == "Array"
    }

    /// `Shop` of `[Middleware<Shop>]`; nothing if the type is not written so.
    private func argument(ofListOf element: String, _ type: TypeSyntax) -> TypeSyntax? {
        let one =
            type.as(ArrayTypeSyntax.self)?.element
            ?? type.as(IdentifierTypeSyntax.self)
            .flatMap { $0.name.text == "Array" ? firstArgument($0) : nil }
        guard let named = one?.as(IdentifierTypeSyntax.self), named.name.text == element else {
            return nil
        }
        return firstArgument(named)
    }

    private func firstArgument(_ type: IdentifierTypeSyntax) -> TypeSyntax? {
        guard case .type(let argument)? = type.genericArgumentClause?.arguments.first?.argument
        else { return nil }
        return argument
    }

    /// Whether a type is this reactor, by any of its names.
    private func isOwn(_ type: TypeSyntax) -> Bool {
        let name = type.as(IdentifierTypeSyntax.self)?.name ?? type.as(MemberTypeSyntax.self)?.name
        // because what is written otherwise may be an alias
        guard let name, type.as(IdentifierTypeSyntax.self)?.genericArgumentClause == nil else {
            return true
        }
        let isReactor = name.text == "Self" || plainName(name) == plainName(reactor.name)
        return isReactor || reactor.nested[plainName(name)] != nil
    }

    /// Whether `Middleware { … }`, or `Middleware<Shop> { … }`, is what an expression is.
    private func makes(_ element: String, _ value: ExprSyntax) -> Bool {
        guard let call = value.as(FunctionCallExprSyntax.self)?.calledExpression else {
            return false
        }
        let callee = call.as(GenericSpecializationExprSyntax.self)?.expression ?? call
        return callee.as(DeclReferenceExprSyntax.self)?.baseName.text == element
    }
}

// MARK: - Functions for properties, and the other way round
extension ReactorChecks {
    private func functionProblem(
        _ function: FunctionDeclSyntax, _ rule: ReactorPropertyRule
    ) -> RuleProblem? {
        let clause = function.signature.parameterClause
        guard clause.parameters.isEmpty, reactor.properties[rule.name] == nil else { return nil }
        var fix: SourceFix?
        if let result = function.signature.returnClause,
            function.signature.effectSpecifiers == nil
        {
            fix = SourceFix.replace(function.funcKeyword, with: "var", "make it a property")
                .and(.replace(clause, with: ":", "")).and(.remove(result.arrow, ""))
        }
        return RuleProblem(
            function.name, "propertyFunction",
            "\(rule.name) that is a function would never be called; write \(rule.remedy)", fix: fix)
    }

    /// A property that holds a function of the name of one that is called.
    private func callableProblem(_ name: String) -> RuleProblem? {
        guard let variable = reactor.properties[name], reactor.functions(named: name).isEmpty,
            let rule = ReactorRule.all.first(where: { $0.name == name })
        else { return nil }
        let own = ["private", "fileprivate", "static", "class"]
        if rule.isCommonWord, variable.modifiers.contains(where: { own.contains($0.name.text) }) {
            return nil
        }
        let holdsFunction = variable.bindings.contains { binding in
            binding.typeAnnotation?.type.is(FunctionTypeSyntax.self)
                ?? binding.initializer?.value.is(ClosureExprSyntax.self) ?? false
        }
        guard holdsFunction else { return nil }
        let remedies = ReactorRule.all.filter { $0.name == name }.map(\.remedy)
        return RuleProblem(
            variable.bindings, "functionProperty",
            "\(name) that is a property would never be called; write "
                + remedies.joined(separator: " or "))
    }
}
