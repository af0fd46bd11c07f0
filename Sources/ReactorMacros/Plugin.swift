import SwiftCompilerPlugin
import SwiftSyntaxMacros

@main
struct Plugin: CompilerPlugin {
    let providingMacros: [any Macro.Type] = [
        WireCodableMacro.self, WireAliasMacro.self, WireRemovedMacro.self,
        WireInternalMacro.self, WireSecretMacro.self,
        MemberwiseInitMacro.self, ReactorMacro.self, ReactsMacro.self, PathMacro.self,
        ReactorStateMacro.self, ReactorStateFieldMacro.self, ReactorStateMarkerMacro.self,
    ]
}
