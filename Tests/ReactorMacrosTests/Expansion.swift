import SwiftSyntaxMacroExpansion
import SwiftSyntaxMacrosGenericTestSupport
import Testing

/// The macros by their names in the libraries.
var macroSpecs: [String: MacroSpec] {
    [
        "WireCodable": MacroSpec(
            type: WireCodableMacro.self, conformances: [WireCodableMacro.conformance]),
        "WireAlias": MacroSpec(type: WireAliasMacro.self),
        "WireInternal": MacroSpec(type: WireInternalMacro.self),
        "WireSecret": MacroSpec(type: WireSecretMacro.self),
        "WireRemoved": MacroSpec(type: WireRemovedMacro.self),
        "MemberwiseInit": MacroSpec(type: MemberwiseInitMacro.self),
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

/// Checks that `source` expands to `expanded`, without diagnostics.
func expectExpansion(
    _ source: String, _ expanded: String, sourceLocation: SourceLocation = #_sourceLocation
) {
    assertMacroExpansion(
        source, expandedSource: expanded, macroSpecs: macroSpecs,
        failureHandler: { failure in
            Issue.record(Comment(rawValue: failure.message), sourceLocation: sourceLocation)
        })
}

/// Checks that `source` produces exactly `diagnostics`, whatever its expansion.
func expectDiagnostics(
    _ source: String, _ diagnostics: DiagnosticSpec...,
    sourceLocation: SourceLocation = #_sourceLocation
) {
    assertMacroExpansion(
        source, expandedSource: "", diagnostics: diagnostics, macroSpecs: macroSpecs,
        failureHandler: { failure in
            // These tests check messages; other tests check the expansion.
            if failure.message.hasPrefix("Macro expansion did not produce") { return }
            Issue.record(Comment(rawValue: failure.message), sourceLocation: sourceLocation)
        })
}

/// Checks that `source` produces exactly `diagnostics`, and that their fix-its turn it into
/// `fixed`, which produces no further diagnostics.
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

/// Returns the expansion of `source`.
func expansion(
    of source: String, macroSpecs: [String: MacroSpec] = macroSpecs
) -> String {
    // Only the assertion returns the expansion: its failure message quotes the actual source.
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

/// A diagnostic at a place in the source, with an optional fix-it.
func told(_ line: Int, _ column: Int, _ message: String, fix: String? = nil) -> DiagnosticSpec {
    DiagnosticSpec(
        message: message, line: line, column: column,
        fixIts: fix.map { [FixItSpec(message: $0)] } ?? [])
}
