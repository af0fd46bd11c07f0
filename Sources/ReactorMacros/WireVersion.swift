import SwiftSyntax
import SwiftSyntaxMacros

/// The version of a type and the steps to it, as far as the type's body shows them.
///
/// An extension may declare the steps, and an expression that is no literal has a value only at run
/// time: the program checks these at its start.
struct WireVersion {
    private var version: VariableDeclSyntax?
    private var migrations: VariableDeclSyntax?

    init(_ declaration: some DeclGroupSyntax) {
        for member in declaration.memberBlock.members {
            guard let variable = member.decl.as(VariableDeclSyntax.self),
                let pattern = variable.bindings.first?.pattern.as(IdentifierPatternSyntax.self)
            else { continue }
            switch pattern.identifier.text {
            case "wireVersion": version = variable
            case "wireMigrations": migrations = variable
            default: break
            }
        }
    }

    /// Reports the mistakes in version and steps. Returns whether there was none.
    func check(hasRawValue: Bool, in context: some MacroExpansionContext) -> Bool {
        guard let first = version ?? migrations else { return true }
        if hasRawValue {
            context.refuse(
                first, "versionOfRawValue",
                "a type with a raw value is stored as that value, which has no version; convert it "
                    + "in a step of the type that contains it")
            return false
        }
        guard checkForm(version, "wireVersion", type: "Int", in: context),
            checkForm(migrations, "wireMigrations", type: "WireMigrations", in: context)
        else { return false }
        guard version != nil else {
            context.refuse(
                first, "versionMissing",
                "wireMigrations leads to a version; declare static var wireVersion: Int { 2 } beside "
                    + "it, with the number of today")
            return false
        }
        return checkSteps(in: context)
    }

    /// Refuses a property that would not fulfil the requirement, so that its default were used.
    private func checkForm(
        _ variable: VariableDeclSyntax?, _ name: String, type: String,
        in context: some MacroExpansionContext
    ) -> Bool {
        guard let variable else { return true }
        if !variable.modifiers.contains(where: { $0.name.text == "static" }) {
            context.refuse(
                variable, "versionNotStatic", "\(name) belongs to the type; declare it static",
                fix: .insert("static ", before: variable.bindingSpecifier, "insert 'static'"))
            return false
        }
        guard let annotation = variable.bindings.first?.typeAnnotation?.type else { return true }
        let written = annotation.trimmedDescription
        if written.split(separator: ".").last.map(String.init) == type { return true }
        context.refuse(
            annotation, "versionType",
            "\(name) has the type \(type); one of another type is not used",
            fix: .replace(annotation, with: type, "write '\(type)'"))
        return false
    }

    // MARK: The chain

    private func checkSteps(in context: some MacroExpansionContext) -> Bool {
        guard let version, let value = self.value(of: version)?.as(IntegerLiteralExprSyntax.self),
            let today = Int(value.literal.text)
        else { return true }
        func refuse(_ node: some SyntaxProtocol, _ id: String, _ message: String) -> Bool {
            context.refuse(node, id, message)
            return false
        }
        if today < 1 { return refuse(value, "versionZero", "the first version is 1") }
        guard let migrations, let steps = self.value(of: migrations).flatMap(steps) else {
            return true
        }
        var expected = steps.first?.version ?? today
        for (number, node) in steps {
            if number >= today {
                return refuse(
                    node, "stepBeyond",
                    "the type has version \(today), so no step begins at \(number); raise "
                        + "wireVersion to \(number + 1), or remove the step")
            }
            if number != expected {
                return refuse(
                    node, "stepOrder",
                    "expected the step from version \(expected), got one from \(number); the steps "
                        + "are in ascending order, one from each version")
            }
            expected += 1
        }
        guard today > 1, expected < today || steps.isEmpty else { return true }
        let last = steps.isEmpty ? today - 1 : expected
        return refuse(
            value, "stepMissing",
            "the type has version \(today), and no step from version \(last); add .from(\(last))")
    }

    /// The expression that a property returns.
    private func value(of variable: VariableDeclSyntax) -> ExprSyntax? {
        guard let binding = variable.bindings.first else { return nil }
        if let initial = binding.initializer { return initial.value }
        guard case .getter(let items)? = binding.accessorBlock?.accessors, items.count == 1,
            let item = items.first?.item
        else { return nil }
        switch item {
        case .expr(let expression): return expression
        case .stmt(let statement): return statement.as(ReturnStmtSyntax.self)?.expression
        case .decl: return nil
        }
    }

    /// The versions in `.from(1) { … }.from(2) { … }`; `nil` if the chain has anything else.
    private func steps(
        _ expression: ExprSyntax
    ) -> [(version: Int, node: IntegerLiteralExprSyntax)]? {
        var steps: [(Int, IntegerLiteralExprSyntax)] = []
        var next: ExprSyntax? = expression
        while let call = next?.as(FunctionCallExprSyntax.self) {
            guard let member = call.calledExpression.as(MemberAccessExprSyntax.self) else {
                return nil
            }
            switch member.declName.baseName.text {
            case "formerly": break
            case "from":
                guard
                    let node = call.arguments.first?.expression.as(IntegerLiteralExprSyntax.self),
                    let number = Int(node.literal.text)
                else { return nil }
                steps.insert((number, node), at: 0)
            default: return nil
            }
            next = member.base
        }
        guard let base = next?.trimmedDescription else { return steps }
        return ["WireMigrations", "WireMigrations.none", ".none"].contains(base) ? steps : nil
    }
}
