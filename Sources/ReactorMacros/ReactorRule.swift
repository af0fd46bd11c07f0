import SwiftSyntax
import SwiftSyntaxMacros

/// A function of the protocol, in the forms that count.
struct ReactorRule {
    var name: String
    /// The labels that each form has.
    var forms: [String]
    /// How to write it.
    var remedy: String
    /// Why it may not wait.
    var whyNotAsync: String
    var mayThrow = false

    static let all = [
        ReactorRule(
            name: "mutate", forms: ["(action:)", "(action:state:)", "(action:state:context:)"],
            remedy: "func mutate(action: Action, state: State) throws(Rejection) "
                + "-> Mutations<Mutation>",
            whyNotAsync: "an action is decided at once; give async work to Mutations(async:)",
            mayThrow: true),
        ReactorRule(
            name: "reduce", forms: ["(state:mutation:)"],
            remedy: "func reduce(state: inout State, mutation: Mutation)",
            whyNotAsync: "a fact is applied at once, in every mirror; give async work to the "
                + "effects of mutate"),
        ReactorRule(
            name: "react", forms: ["(to:state:)"],
            remedy: "func react(to change: ChildChange, state: State) -> Mutations<Mutation>",
            whyNotAsync: "it is part of the child's transaction; give async work to "
                + "Mutations(async:)"),
        ReactorRule(
            name: "connectionEnded", forms: ["(_:state:context:)"],
            remedy: "func connectionEnded(_ owned: Owned, state: State, context: Context<Self>) "
                + "-> Mutations<Mutation>",
            whyNotAsync: "what a connection held ends at once; give async work to "
                + "Mutations(async:)"),
    ]
}

extension ReactorChecks {
    /// Whether each function with the name of a rule is one that the runtime calls.
    func checkFunctions() -> Bool {
        var isFine = true
        for rule in ReactorRule.all {
            for function in reactor.functions(named: rule.name) {
                if let problem = problem(function, rule) {
                    context.refuse(problem.node, problem.id, problem.message)
                    isFine = false
                }
            }
        }
        return isFine
    }

    private typealias Problem = (node: Syntax, id: String, message: String)

    private func problem(_ function: FunctionDeclSyntax, _ rule: ReactorRule) -> Problem? {
        let effects = function.signature.effectSpecifiers
        if let async = effects?.asyncSpecifier {
            return (Syntax(async), "async", "\(rule.name) may not be async: \(rule.whyNotAsync)")
        }
        guard rule.forms.contains(labels(function)) else {
            return (
                Syntax(function.signature.parameterClause), "labels",
                "\(rule.name)\(labels(function)) would never be called; write \(rule.remedy)"
            )
        }
        let refused = ["static", "class", "mutating", "private", "fileprivate"]
        let access = accessKeyword(reactor.declaration.modifiers)
        let isOutermost = access.map(refused.contains) ?? false
        if let word = function.modifiers.first(where: { refused.contains($0.name.text) }),
            !(isOutermost && word.name.text == "fileprivate")
        {
            return (
                Syntax(word), "modifier",
                "\(rule.name) that is \(word.name.text) would never be called; remove the word"
            )
        }
        return throwsProblem(effects?.throwsClause, rule) ?? typeProblem(function, rule)
    }

    private func throwsProblem(_ clause: ThrowsClauseSyntax?, _ rule: ReactorRule) -> Problem? {
        guard let clause else { return nil }
        if !rule.mayThrow {
            return (
                Syntax(clause), "throws",
                "\(rule.name) may not throw: what it is given has happened; refuse in mutate"
            )
        }
        guard clause.type.map(lastName) != "Rejection" else { return nil }
        return (
            Syntax(clause), "throws",
            "\(rule.name) refuses an action with a Rejection; write throws(Rejection)"
        )
    }

    /// A parameter whose type is not the reactor's own, although it declares one.
    private func typeProblem(_ function: FunctionDeclSyntax, _ rule: ReactorRule) -> Problem? {
        let mutation = reactor.nested["Mutation"] == nil ? "Action" : "Mutation"
        let expected = ["action": "Action", "state": "State", "mutation": mutation]
        for parameter in function.signature.parameterClause.parameters {
            guard let part = expected[parameter.firstName.text], reactor.nested[part] != nil,
                lastName(parameter.type) != part,
                // because a nested Mutation may be an alias of Action, and the other way round
                lastName(parameter.type) != "Mutation" || part != "Action"
            else { continue }
            let written = "\(parameter.firstName.text): \(parameter.type.trimmedDescription)"
            return (
                Syntax(parameter.type), "parameterType",
                "\(rule.name) with \(written) would never be called; the type is \(part)"
            )
        }
        return nil
    }
}
