import SwiftSyntax

/// A property requirement with a default: if the author declares one of another shape, it compiles,
/// but the runtime reads the default instead of it.
struct ReactorPropertyRule {
    var name: String
    /// The element type of a list property: `Middleware` of `[Middleware<Self>]`.
    var element: String?
    /// The type of a static property, which is not a list.
    var type = ""
    /// Whether the name is a common word, which an author may use for a property of another
    /// purpose.
    var isCommonWord = false

    var isStatic: Bool { element == nil }

    /// The correct declaration.
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

// MARK: - Problems
extension ReactorChecks {
    /// Whether each property with the name of a rule is one that the runtime reads, and no property
    /// has the name of a function that it calls.
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

    /// A modifier that makes the property invisible to the runtime.
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

    /// A property of the instance in place of a static one.
    private func instanceProblem(
        _ variable: VariableDeclSyntax, _ binding: PatternBindingSyntax,
        _ rule: ReactorPropertyRule
    ) -> RuleProblem? {
        // A version or a text property of the author's own is allowed.
        let isOwn =
            rule.type == "String" || binding.typeAnnotation.map { lastName($0.type) } != rule.type
        if rule.isCommonWord, isOwn { return nil }
        return RuleProblem(
            variable.bindingSpecifier, "propertyInstance",
            "\(rule.name) of an instance would never be read; write \(rule.remedy)",
            fix: .insert("static ", before: variable.bindingSpecifier, "insert 'static'"))
    }

    /// A type other than the required one.
    private func typeProblem(
        _ binding: PatternBindingSyntax, _ rule: ReactorPropertyRule
    ) -> RuleProblem? {
        if let type = binding.typeAnnotation?.type {
            guard lastName(type) != rule.type else { return nil }
            return RuleProblem(
                type, "propertyType", never(type.trimmedDescription, rule),
                fix: .replace(type, with: rule.type, "write '\(rule.type)'"))
        }
        // An integer literal without a type is an Int.
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

    // MARK: Lists

    /// A property that is not a list, or a list for another reactor.
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

    /// `Shop` of `[Middleware<Shop>]`; `nil` for a type of another form.
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
        // A type of another form may be an alias of it.
        guard let name, type.as(IdentifierTypeSyntax.self)?.genericArgumentClause == nil else {
            return true
        }
        let isReactor = name.text == "Self" || plainName(name) == plainName(reactor.name)
        return isReactor || reactor.nested[plainName(name)] != nil
    }

    /// Whether an expression has the form `Middleware { … }`, or `Middleware<Shop> { … }`.
    private func makes(_ element: String, _ value: ExprSyntax) -> Bool {
        guard let call = value.as(FunctionCallExprSyntax.self)?.calledExpression else {
            return false
        }
        let callee = call.as(GenericSpecializationExprSyntax.self)?.expression ?? call
        return callee.as(DeclReferenceExprSyntax.self)?.baseName.text == element
    }

    // MARK: Functions in place of properties, and vice versa

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

    /// A property with a function as its value, in place of a function that the runtime calls.
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
