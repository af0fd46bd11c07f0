import SwiftDiagnostics
import SwiftSyntax
import SwiftSyntaxMacros

/// A mistake in an author's source, with the remedy.
struct MacroDiagnostic: DiagnosticMessage {
    let message: String
    let id: String
    let severity: DiagnosticSeverity

    var diagnosticID: MessageID { MessageID(domain: "ReactorMacros", id: id) }

    init(_ id: String, _ message: String, severity: DiagnosticSeverity = .error) {
        self.id = id
        self.message = message
        self.severity = severity
    }
}

extension MacroExpansionContext {
    /// Reports a mistake at `node`, with a fix if there is one.
    func refuse(
        _ node: some SyntaxProtocol, _ id: String, _ message: String, fix: SourceFix? = nil
    ) {
        diagnose(
            Diagnostic(
                node: node, message: MacroDiagnostic(id, message),
                fixIts: fix.map { [$0.fixIt] } ?? []))
    }
}

/// A context that drops diagnostics, since the member role has reported them.
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
