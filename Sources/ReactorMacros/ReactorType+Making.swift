import SwiftSyntax

// MARK: - Making an instance
extension ReactorType {
    /// Whether `Self()` compiles: the initializer that it calls needs no arguments.
    ///
    /// False where the macro cannot know, for example with an initializer in an extension.
    var canMakeItself: Bool {
        let members = declaration.memberBlock.members.map(\.decl)
        // A condition may hide a property or an initializer.
        if members.contains(where: { $0.is(IfConfigDeclSyntax.self) }) { return false }
        let initializers = members.compactMap { $0.as(InitializerDeclSyntax.self) }
        if !initializers.isEmpty { return isMade(by: initializers) }
        if inheritsBase { return getsInitializer }
        // A class may inherit initializers that are not declared here.
        if declaration.is(ClassDeclSyntax.self), declaration.inheritanceClause != nil {
            return false
        }
        return isSettled
    }

    /// Whether the macro generates an initializer without arguments for a subclass of
    /// `BaseReactor`, whose inherited initializer needs only the state.
    var getsInitializer: Bool {
        let members = declaration.memberBlock.members.map(\.decl)
        return inheritsBase && stateHasDefault && isSettled
            && !members.contains {
                $0.is(InitializerDeclSyntax.self) || $0.is(IfConfigDeclSyntax.self)
            }
    }

    /// Whether every stored property has a value without an initializer.
    private var isSettled: Bool {
        let members = declaration.memberBlock.members.map(\.decl)
        return members.compactMap { $0.as(VariableDeclSyntax.self) }.allSatisfy { variable in
            !isInstance(variable)
                || variable.bindings.allSatisfy { isSettled($0, variable) }
        }
    }

    /// Whether the compiler selects one of `initializers` for a call without arguments.
    private func isMade(by initializers: [InitializerDeclSyntax]) -> Bool {
        let fitting = initializers.filter { initializer in
            initializer.signature.parameterClause.parameters.allSatisfy {
                $0.defaultValue != nil || $0.ellipsis != nil
            }
        }
        // Of several possible ones, the compiler selects the one without parameters.
        let bare = fitting.filter { $0.signature.parameterClause.parameters.isEmpty }
        let meant = bare.isEmpty ? fitting : bare
        return meant.count == 1 && meant.allSatisfy(isPlain)
    }

    /// Whether an initializer can be called without conditions: it is not failable, async or
    /// throwing, and not isolated.
    private func isPlain(_ initializer: InitializerDeclSyntax) -> Bool {
        let harmless: Set = ["inlinable", "inline", "usableFromInline"]
        let parameters = initializer.signature.parameterClause.parameters
        return initializer.optionalMark == nil
            && initializer.signature.effectSpecifiers == nil
            && initializer.genericParameterClause == nil
            && initializer.genericWhereClause == nil
            && initializer.attributes.allSatisfy { element in
                guard case .attribute(let attribute) = element else { return false }
                return harmless.contains(attributeName(attribute))
            }
            && parameters.allSatisfy { parameter in
                // The compiler cannot infer an opaque type from a default.
                !parameter.type.tokens(viewMode: .sourceAccurate)
                    .contains { $0.tokenKind == .keyword(.some) }
            }
    }

    /// Whether a property needs no value from the initializer.
    private func isSettled(
        _ binding: PatternBindingSyntax, _ variable: VariableDeclSyntax
    ) -> Bool {
        // A wrapped optional does not start as nil.
        hasInitialValue(binding, variable)
            && (binding.initializer != nil || isComputed(binding) || variable.attributes.isEmpty)
    }
}
