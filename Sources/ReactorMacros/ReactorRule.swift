import SwiftSyntax

/// A function of the protocol, with its accepted forms.
struct ReactorRule {
    var name: String
    /// The labels of each form.
    var forms: [String]
    /// The correct declaration.
    var remedy: String
    /// The reason why the function cannot be async; `nil` if it can.
    var whyNotAsync: String?
    /// Whether the function may throw a `Rejection`.
    var mayThrow = false
    /// Whether the action is optional, as for effects of `start`.
    var mayLackAction = false
    /// The generic type around the parameter's type and the result's, as in `Transform<Action>`.
    var wrapper: String?
    /// The result type, if it is fixed.
    var result: String?
    /// Whether the name is a common word: a private or static function of that name is assumed to
    /// be one of the author's own.
    var isCommonWord = false

    static let all =
        decisions + events + [
            transform("action", "Action"), transform("mutation", "Mutation"),
            transform("state", "State"),
        ]

    /// The functions that decide and apply.
    private static let decisions = [
        ReactorRule(
            name: "mutate", forms: ["(action:)", "(action:state:)", "(action:state:context:)"],
            remedy: "func mutate(action: Action, state: State) throws(Rejection) "
                + "-> Mutations<Mutation>",
            whyNotAsync: "an action is decided at once; give async work to Mutations(async:)",
            mayThrow: true, result: "Mutations"),
        ReactorRule(
            name: "reduce", forms: ["(state:mutation:)"],
            remedy: "func reduce(state: inout State, mutation: Mutation)",
            whyNotAsync: "a fact is applied at once, in every mirror; give async work to the "
                + "effects of mutate"),
        ReactorRule(
            name: "react", forms: ["(to:state:)", "(to:state:context:)"],
            remedy: "func react(to change: ChildChange, state: State) -> Mutations<Mutation>",
            whyNotAsync: "it is part of the child's transaction; give async work to "
                + "Mutations(async:)", result: "Mutations"),
        hook("childrenChanged", "_ change: ChildrenChange"),
        hook("followerRejected", "_ refusal: FollowerRefusal"),
        ReactorRule(
            name: "connectionEnded", forms: ["(_:state:context:)"],
            remedy: "func connectionEnded(_ owned: OwnedKeys, state: State, "
                + "context: ReactorContext<Self>) -> Mutations<Mutation>",
            whyNotAsync: "what a connection held ends at once; give async work to "
                + "Mutations(async:)", result: "Mutations"),
    ]

    /// The functions that the runtime calls for events.
    private static let events = [
        ReactorRule(
            name: "start", forms: ["(state:)", "(state:context:)"],
            remedy: "func start(state: State) -> Mutations<Mutation>",
            whyNotAsync: "a reactor is mounted at once; give async work to Mutations(async:)",
            result: "Mutations", isCommonWord: true),
        ReactorRule(
            name: "error", forms: ["(_:action:state:)", "(_:action:state:context:)"],
            remedy: "func error(_ error: any Error, action: Action?, state: State) "
                + "-> Mutations<Mutation>",
            whyNotAsync: "it is called synchronously; give async work to Mutations(async:)",
            mayLackAction: true, result: "Mutations", isCommonWord: true),
        ReactorRule(
            name: "sagaFailed", forms: ["(_:state:)", "(_:state:context:)"],
            remedy: "func sagaFailed(_ failure: SagaFailure, state: State) -> Mutations<Mutation>",
            whyNotAsync: "it is called synchronously; give async work to Mutations(async:)",
            result: "Mutations"),
        ReactorRule(
            name: "childFailed", forms: ["(_:state:)", "(_:state:context:)"],
            remedy: "func childFailed(_ failure: ChildFailure, state: State) "
                + "-> Mutations<Mutation>",
            whyNotAsync: "it is called synchronously; give async work to Mutations(async:)",
            result: "Mutations"),
        ReactorRule(
            name: "shouldCancel", forms: ["(current:upcoming:)"],
            remedy: "func shouldCancel(current: Action, upcoming: Action) -> Bool",
            whyNotAsync: "it is called while an action is processed", result: "Bool"),
    ]

    private static func hook(_ name: String, _ parameter: String) -> ReactorRule {
        ReactorRule(
            name: name, forms: ["(_:state:context:)"],
            remedy: "func \(name)(\(parameter), state: State, "
                + "context: ReactorContext<Self>) -> Mutations<Mutation>",
            whyNotAsync: "it is called synchronously; give async work to Mutations(async:)",
            result: "Mutations")
    }

    private static func transform(_ label: String, _ part: String) -> ReactorRule {
        ReactorRule(
            name: "transform", forms: ["(\(label):)"],
            remedy: "func transform(\(label): Transform<\(part)>) -> Transform<\(part)>",
            whyNotAsync: "it builds the pipeline once; async work goes into its stream",
            wrapper: "Transform", result: "Transform", isCommonWord: true)
    }

    /// Whether a function with the rule's name is meant as the rule, and not as a function of the
    /// author's own.
    func isMeant(by function: FunctionDeclSyntax) -> Bool {
        let own = ["private", "fileprivate", "static", "class"]
        return plainName(function.name) == name
            && !(isCommonWord && function.modifiers.contains { own.contains($0.name.text) })
    }
}
