import SwiftSyntax
import SwiftSyntaxMacros

/// `@Reacts`: has no expansion; `@Reactor` reads it.
struct ReactsMacro: PeerMacro {
    static func expansion(
        of node: AttributeSyntax, providingPeersOf declaration: some DeclSyntaxProtocol,
        in context: some MacroExpansionContext
    ) throws -> [DeclSyntax] {
        guard declaration.is(FunctionDeclSyntax.self) else {
            context.refuse(
                node, "reactsOnOther",
                "@Reacts marks a reaction to a child's mutation; put it on a function")
            return []
        }
        let enclosing = context.lexicalContext.first
        guard enclosing?.is(ExtensionDeclSyntax.self) != true else {
            context.refuse(
                node, "reactsInExtension",
                "@Reactor does not see an extension, and the function would never be called; move "
                    + "it into the reactor's body")
            return []
        }
        if !isReactor(enclosing) {
            context.refuse(
                node, "reactsOutside",
                "@Reacts has no effect in a type without @Reactor; add it, or write "
                    + "react(to:state:) by hand")
        }
        return []
    }

    private static func isReactor(_ enclosing: Syntax?) -> Bool {
        let attributes = enclosing?.asProtocol((any DeclGroupSyntax).self)?.attributes ?? []
        return attributes.contains { element in
            guard case .attribute(let attribute) = element else { return false }
            return attributeName(attribute) == "Reactor"
        }
    }
}
