import SwiftSyntax

// MARK: - Making an instance
extension ReactorType {
    /// Whether `Self()` makes an instance: nothing has to be said to the initializer that it means.
    ///
    /// Where that cannot be seen, as with an initializer in an extension, the answer is no.
    var canMakeItself: Bool {
        let members = declaration.memberBlock.members.map(\.decl)
        // because a condition may hide a property or an initializer
        if members.contains(where: { $0.is(IfConfigDeclSyntax.self) }) { return false }
        let initializers = members.compactMap { $0.as(InitializerDeclSyntax.self) }
        if !initializers.isEmpty { return isMade(by: initializers) }
        if inheritsBase { return getsInitializer }
        // because a class inherits initializers that do not stand here
        if declaration.is(ClassDeclSyntax.self), declaration.inheritanceClause != nil {
            return false
        }
        return isSettled
    }

    /// Whether a subclass of `BaseReactor` is given an initializer without arguments, for the one
    /// that it inherits wants the state only.
    var getsInitializer: Bool {
        let members = declaration.memberBlock.members.map(\.decl)
        return inheritsBase && stateHasDefault && isSettled
            && !members.contains {
                $0.is(InitializerDeclSyntax.self) || $0.is(IfConfigDeclSyntax.self)
            }
    }

    /// Whether every stored property has a value before an initializer gives it one.
    private var isSettled: Bool {
        let members = declaration.memberBlock.members.map(\.decl)
        return members.compactMap { $0.as(VariableDeclSyntax.self) }.allSatisfy { variable in
            !isInstance(variable)
                || variable.bindings.allSatisfy { isSettled($0, variable) }
        }
    }

    /// Whether the compiler finds one of `initializers` for a call without arguments.
    private func isMade(by initializers: [InitializerDeclSyntax]) -> Bool {
        let fitting = initializers.filter { initializer in
            initializer.signature.parameterClause.parameters.allSatisfy {
                $0.defaultValue != nil || $0.ellipsis != nil
            }
        }
        // because of several that fit, the compiler takes the one that has no parameters
        let bare = fitting.filter { $0.signature.parameterClause.parameters.isEmpty }
        let meant = bare.isEmpty ? fitting : bare
        return meant.count == 1 && meant.allSatisfy(isPlain)
    }

    /// Whether an initializer is called as it stands: it answers with an instance, at once, from
    /// anywhere.
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
                // because an opaque type does not follow from a default
                !parameter.type.tokens(viewMode: .sourceAccurate)
                    .contains { $0.tokenKind == .keyword(.some) }
            }
    }

    /// Whether a property needs no value from the initializer.
    private func isSettled(
        _ binding: PatternBindingSyntax, _ variable: VariableDeclSyntax
    ) -> Bool {
        // because a wrapped optional does not start as nil
        hasInitialValue(binding, variable)
            && (binding.initializer != nil || isComputed(binding) || variable.attributes.isEmpty)
    }
}
