import SwiftSyntax
import SwiftSyntaxMacros

/// A mistake in a function of the protocol.
struct RuleProblem {
    var node: Syntax
    var id: String
    var message: String
    var fix: SourceFix?

    init(_ node: some SyntaxProtocol, _ id: String, _ message: String, fix: SourceFix? = nil) {
        self.node = Syntax(node)
        self.id = id
        self.message = message
        self.fix = fix
    }
}

extension ReactorChecks {
    /// Whether each function with the name of a rule is one that the runtime calls.
    func checkFunctions() -> Bool {
        var isFine = true
        for function in reactor.functions {
            let meant = ReactorRule.all.filter { $0.isMeant(by: function) }
            // Several rules have the same name; the one with these labels is meant.
            guard
                let rule = meant.first(where: { $0.forms.contains(labels(function)) })
                    ?? meant.first
            else { continue }
            guard let problem = problem(function, rule) else { continue }
            context.refuse(problem.node, problem.id, problem.message, fix: problem.fix)
            isFine = false
        }
        return isFine
    }

    private func problem(_ function: FunctionDeclSyntax, _ rule: ReactorRule) -> RuleProblem? {
        let effects = function.signature.effectSpecifiers
        if let async = effects?.asyncSpecifier, let whyNotAsync = rule.whyNotAsync {
            return RuleProblem(
                async, "async", "\(rule.name) may not be async: \(whyNotAsync)",
                fix: .remove(async, "remove 'async'"))
        }
        return labelProblem(function, rule) ?? modifierProblem(function, rule)
            ?? throwsProblem(effects?.throwsClause, rule) ?? typeProblem(function, rule)
            ?? resultProblem(function, rule)
    }

    private func modifierProblem(
        _ function: FunctionDeclSyntax, _ rule: ReactorRule
    ) -> RuleProblem? {
        let refused = ["static", "class", "mutating", "private", "fileprivate"]
        let access = accessKeyword(reactor.declaration.modifiers)
        let isOutermost = access.map(refused.contains) ?? false
        guard let word = function.modifiers.first(where: { refused.contains($0.name.text) }),
            !(isOutermost && word.name.text == "fileprivate")
        else { return nil }
        return RuleProblem(
            word, "modifier",
            "\(rule.name) that is \(word.name.text) would never be called; remove the word",
            fix: .remove(word, "remove '\(word.name.text)'"))
    }

    private func throwsProblem(_ clause: ThrowsClauseSyntax?, _ rule: ReactorRule) -> RuleProblem? {
        guard let clause else { return nil }
        if !rule.mayThrow {
            return RuleProblem(
                clause, "throws",
                "\(rule.name) may not throw: it handles what has happened; refuse in mutate",
                fix: .remove(clause, "remove '\(clause.trimmedDescription)'"))
        }
        guard clause.type.map(lastName) != "Rejection" else { return nil }
        return RuleProblem(
            clause, "throws",
            "\(rule.name) refuses an action with a Rejection; write throws(Rejection)",
            fix: .replace(clause, with: "throws(Rejection)", "write 'throws(Rejection)'"))
    }

    // MARK: Labels

    private func labelProblem(
        _ function: FunctionDeclSyntax, _ rule: ReactorRule
    ) -> RuleProblem? {
        guard !rule.forms.contains(labels(function)) else { return nil }
        let remedies = ReactorRule.all.filter { $0.name == rule.name }.map(\.remedy)
        let orOwn = rule.isCommonWord ? ", or make a function of another kind private" : ""
        return RuleProblem(
            function.signature.parameterClause, "labels",
            "\(rule.name)\(labels(function)) would never be called; write "
                + remedies.joined(separator: " or ") + orOwn,
            fix: labelFix(function, rule))
    }

    /// Replaces the labels by those of the form that the parameters fit, if there is one.
    private func labelFix(_ function: FunctionDeclSyntax, _ rule: ReactorRule) -> SourceFix? {
        let clause = function.signature.parameterClause
        let written = Array(clause.parameters)
        for form in rule.forms {
            let wanted = form.dropFirst().dropLast().split(separator: ":").map(String.init)
            guard wanted.count == written.count else { continue }
            let isReordered = Set(wanted) == Set(written.map(\.firstName.text))
            var parameters = written
            if isReordered {
                parameters = wanted.compactMap { label in
                    written.first { $0.firstName.text == label }
                }
            }
            guard parameters.count == wanted.count,
                zip(parameters, wanted).allSatisfy({ fits($0, $1) })
            else { continue }
            let list = zip(parameters, wanted).map(relabelled).joined(separator: ", ")
            return .replace(
                clause, with: "(\(list))", "write '\(rule.name)\(form)'")
        }
        return nil
    }

    private func fits(_ parameter: FunctionParameterSyntax, _ label: String) -> Bool {
        guard let part = part(label) else { return true }
        return [part, part + "?"].contains(lastName(parameter.type))
    }

    private func relabelled(_ parameter: FunctionParameterSyntax, _ label: String) -> String {
        let name = (parameter.secondName ?? parameter.firstName).text
        let head = name == label || name == "_" ? label : "\(label) \(name)"
        let value = parameter.defaultValue.map { " \($0.trimmedDescription)" } ?? ""
        return "\(head): \(parameter.type.trimmedDescription)\(value)"
    }

    // MARK: Types

    /// The name of the reactor's mutation type.
    private var mutationName: String {
        reactor.nested["Mutation"] == nil ? "Action" : "Mutation"
    }

    /// The type of a reactor that belongs to a label.
    private func part(_ label: String) -> String? {
        switch label {
        case "action", "current", "upcoming": "Action"
        case "state": "State"
        case "mutation": mutationName
        default: nil
        }
    }

    /// A parameter whose type is not the reactor's own, although the reactor declares one.
    private func typeProblem(_ function: FunctionDeclSyntax, _ rule: ReactorRule) -> RuleProblem? {
        for parameter in function.signature.parameterClause.parameters {
            guard let part = part(parameter.firstName.text), reactor.nested[part] != nil,
                let type = rule.wrapper.map({ argument(of: $0, in: parameter.type) })
                    ?? plainType(parameter.type)
            else { continue }
            let wanted = part == "Action" && rule.mayLackAction ? "Action?" : part
            // A nested Mutation may be an alias of Action, and vice versa.
            let isAlias = lastName(type) == "Mutation" && part == "Action"
            let isMeant = [part, wanted].contains { reactor.isAlias($0, of: type) }
            guard lastName(type) != wanted, !isAlias, !isMeant else { continue }
            let written = "\(parameter.firstName.text): \(parameter.type.trimmedDescription)"
            return RuleProblem(
                parameter.type, "parameterType",
                "\(rule.name) with \(written) would never be called; the type is \(wanted)",
                fix: .replace(type, with: wanted, "write '\(wanted)'"))
        }
        return nil
    }

    /// A result type with which the function is not the protocol's.
    private func resultProblem(
        _ function: FunctionDeclSyntax, _ rule: ReactorRule
    ) -> RuleProblem? {
        let result = function.signature.returnClause
        if rule.name == "reduce" { return reducerProblem(function, result) }
        guard let wanted = rule.result else { return nil }
        let never = "\(rule.name) would never be called: write \(rule.remedy)"
        guard let type = result?.type else {
            return RuleProblem(function.name, "result", never)
        }
        if wanted == "Bool" {
            return lastName(type) == wanted ? nil : RuleProblem(type, "result", never)
        }
        guard wanted == "Mutations" else { return nil }
        // An alias of the result type is allowed.
        guard let element = argument(of: wanted, in: type),
            lastName(element) == "Action", mutationName == "Mutation",
            !reactor.isAlias("Mutation", of: element)
        else { return nil }
        return RuleProblem(
            element, "result",
            "\(rule.name) that decides \(type.trimmedDescription) would never be called; the type "
                + "is Mutation",
            fix: .replace(element, with: "Mutation", "write 'Mutation'"))
    }

    /// A reducer that neither changes the state in place nor returns one, or does both.
    private func reducerProblem(
        _ function: FunctionDeclSyntax, _ result: ReturnClauseSyntax?
    ) -> RuleProblem? {
        guard let state = function.signature.parameterClause.parameters.first else { return nil }
        let specifiers = state.type.as(AttributedTypeSyntax.self)?.specifiers
        let word = specifiers?.first { $0.trimmedDescription == "inout" }
        let isVoid = result.map { ["Void", "()"].contains(lastName($0.type)) } ?? true
        if word == nil, isVoid {
            return RuleProblem(
                state.type, "inout",
                "reduce that changes no state would never be called; the state is inout State",
                fix: .insert("inout ", before: state.type, "insert 'inout'"))
        }
        if let word, !isVoid {
            return RuleProblem(
                word, "inout",
                "reduce that changes a state and returns one would never be called; remove inout, "
                    + "or the result",
                fix: .remove(word, "remove 'inout'"))
        }
        return nil
    }

    /// The type without specifiers such as `inout`.
    private func plainType(_ type: TypeSyntax) -> TypeSyntax {
        type.as(AttributedTypeSyntax.self).map { plainType($0.baseType) } ?? type
    }

    /// `Action` of `Transform<Action>`; `nil` for a type of another form.
    private func argument(of wrapper: String, in type: TypeSyntax) -> TypeSyntax? {
        guard let identifier = plainType(type).as(IdentifierTypeSyntax.self),
            identifier.name.text == wrapper,
            let argument = identifier.genericArgumentClause?.arguments.first?.argument,
            case .type(let element) = argument
        else { return nil }
        return element
    }
}
