import SwiftDiagnostics
import SwiftSyntax
import SwiftSyntaxMacros

/// A context that keeps diagnostics to itself, because the member role already gave them.
final class SilentContext: MacroExpansionContext {
    private let base: any MacroExpansionContext

    init(_ base: any MacroExpansionContext) { self.base = base }

    var lexicalContext: [Syntax] { base.lexicalContext }

    func makeUniqueName(_ name: String) -> TokenSyntax { base.makeUniqueName(name) }

    func diagnose(_ diagnostic: Diagnostic) {}

    func location(
        of node: some SyntaxProtocol, at position: PositionInSyntaxNode,
        filePathMode: SourceLocationFilePathMode
    ) -> AbstractSourceLocation? {
        base.location(of: node, at: position, filePathMode: filePathMode)
    }
}
