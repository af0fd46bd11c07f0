import SwiftSyntax
import SwiftSyntaxBuilder
import SwiftSyntaxMacros

/// `#path`: the slice path of a key path through reactors and their states.
struct PathMacro: ExpressionMacro, FormattedMacro {
    static func expansion(
        of node: some FreestandingMacroExpansionSyntax, in context: some MacroExpansionContext
    ) throws -> ExprSyntax {
        let names = node.arguments.enumerated().flatMap { index, argument in
            Self.names(argument.expression, isNode: index == 0, in: context)
        }
        return "SlicePath(\(raw: stringArrayLiteral(names)))"
    }

    private static func names(
        _ expression: ExprSyntax, isNode: Bool, in context: some MacroExpansionContext
    ) -> [String] {
        guard let path = expression.as(KeyPathExprSyntax.self) else {
            context.refuse(
                expression, "pathNotLiteral",
                "a path is read when compiling; write the key path here: #path(\\App.shop)")
            return []
        }
        var names: [String] = []
        for component in path.components {
            switch component.component {
            case .property(let property): names.append(property.declName.baseName.text)
            case .optional: break
            default:
                context.refuse(
                    component, "pathNotName",
                    "a path in the source names properties only; add a key with appending(_:)")
            }
        }
        // The parser reads `\Outer.App.shop` as the type Outer and two properties.
        let plain = names.drop { isNode && $0.first?.isUppercase == true }
        return plain.filter { $0 != "self" }.map(plainChildName)
    }

    /// The name of the property, without the `$` of a handle and without backticks.
    private static func plainChildName(_ name: String) -> String {
        plainName(.identifier(name.hasPrefix("$") ? String(name.dropFirst()) : name))
    }
}
