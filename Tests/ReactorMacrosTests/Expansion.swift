import SwiftSyntaxMacroExpansion
import SwiftSyntaxMacrosGenericTestSupport
import Testing

@testable import ReactorMacros

/// The macros by the names under which the libraries declare them.
var macroSpecs: [String: MacroSpec] {
    [
        "WireCodable": MacroSpec(
            type: WireCodableMacro.self, conformances: [WireCodableMacro.conformance]),
        "WireAlias": MacroSpec(type: WireAliasMacro.self),
        "WireRemoved": MacroSpec(type: WireRemovedMacro.self),
        "Reactor": MacroSpec(type: ReactorMacro.self, conformances: ReactorMacro.conformances),
        "Reacts": MacroSpec(type: ReactsMacro.self),
        "path": MacroSpec(type: PathMacro.self),
        "ReactorState": MacroSpec(
            type: ReactorStateMacro.self, conformances: [ReactorStateMacro.conformance]),
        "ReactorStateField": MacroSpec(type: ReactorStateFieldMacro.self),
        "Ignored": MacroSpec(type: ReactorStateMarkerMacro.self),
        "NotTransmitted": MacroSpec(type: ReactorStateMarkerMacro.self),
    ]
}

/// Checks that `source` expands to `expanded`, and that its author is told nothing.
func expectExpansion(
    _ source: String, _ expanded: String, sourceLocation: SourceLocation = #_sourceLocation
) {
    assertMacroExpansion(
        source, expandedSource: expanded, macroSpecs: macroSpecs,
        failureHandler: { failure in
            Issue.record(Comment(rawValue: failure.message), sourceLocation: sourceLocation)
        })
}

/// Checks that the author of `source` is told exactly `diagnostics`, whatever it expands to.
func expectDiagnostics(
    _ source: String, _ diagnostics: DiagnosticSpec...,
    sourceLocation: SourceLocation = #_sourceLocation
) {
    assertMacroExpansion(
        source, expandedSource: "", diagnostics: diagnostics, macroSpecs: macroSpecs,
        failureHandler: { failure in
            // because these tests are about the messages; the expansion has tests of its own
            if failure.message.hasPrefix("Macro expansion did not produce") { return }
            Issue.record(Comment(rawValue: failure.message), sourceLocation: sourceLocation)
        })
}

/// Checks that the author of `source` is told exactly `diagnostics`, and that the changes offered
/// beside them make `fixed` of it, of which the author is told nothing more.
func expectFix(
    _ source: String, _ diagnostics: DiagnosticSpec..., fixed: String, isComplete: Bool = true,
    sourceLocation: SourceLocation = #_sourceLocation
) {
    assertMacroExpansion(
        source, expandedSource: "", diagnostics: diagnostics, macroSpecs: macroSpecs,
        fixedSource: fixed,
        failureHandler: { failure in
            if failure.message.hasPrefix("Macro expansion did not produce") { return }
            Issue.record(Comment(rawValue: failure.message), sourceLocation: sourceLocation)
        })
    guard isComplete else { return }
    assertMacroExpansion(
        fixed, expandedSource: "", macroSpecs: macroSpecs,
        failureHandler: { failure in
            if failure.message.hasPrefix("Macro expansion did not produce") { return }
            Issue.record(
                Comment(rawValue: "after the change: \(failure.message)"),
                sourceLocation: sourceLocation)
        })
}

/// What `source` expands to.
func expansion(
    of source: String, macroSpecs: [String: MacroSpec] = macroSpecs
) -> String {
    // because the assertion is the one way to an expansion: its failure quotes the actual source
    let mark = "Actual expanded source:\n"
    var expanded = ""
    assertMacroExpansion(
        source, expandedSource: "", macroSpecs: macroSpecs,
        failureHandler: { failure in
            guard let range = failure.message.firstRange(of: mark) else { return }
            expanded = String(failure.message[range.upperBound...])
        })
    return expanded
}

/// A message at a place in the source, and the change that is offered beside it.
func told(_ line: Int, _ column: Int, _ message: String, fix: String? = nil) -> DiagnosticSpec {
    DiagnosticSpec(
        message: message, line: line, column: column,
        fixIts: fix.map { [FixItSpec(message: $0)] } ?? [])
}
