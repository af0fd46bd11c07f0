import SwiftSyntax
import SwiftSyntaxMacros

/// The stored properties of a struct, in the order of declaration; `nil` if one of them cannot be
/// coded.
func storedFields(
    _ declaration: StructDeclSyntax, in context: some MacroExpansionContext
) -> [WireField]? {
    var fields: [WireField] = []
    var isComplete = refuseConditionals(declaration.memberBlock, in: context)
    for member in declaration.memberBlock.members {
        guard let variable = member.decl.as(VariableDeclSyntax.self), isInstance(variable) else {
            continue
        }
        if let more = storedFields(variable, in: context) {
            fields += more
        } else {
            isComplete = false
        }
    }
    let removed = wireRemoved(declaration.attributes, in: SilentContext(context))
    let isUnique = refuseDuplicates(
        fields.map { ([$0.name] + $0.aliases, "property") } + [(removed, "property")],
        at: declaration.name, in: context)
    for index in fields.indices { fields[index].gate?.name = "_WireForm_\(index)" }
    return isComplete && isUnique ? fields : nil
}

/// Whether the variable is part of a value: neither static nor lazy.
func isInstance(_ variable: VariableDeclSyntax) -> Bool {
    !variable.modifiers.contains { ["static", "class", "lazy"].contains($0.name.text) }
}

private func storedFields(
    _ variable: VariableDeclSyntax, in context: some MacroExpansionContext
) -> [WireField]? {
    let stored = variable.bindings.filter { !isComputed($0) }
    guard !stored.isEmpty else { return [] }
    let names = attributeNames(variable)
    if names.contains("NotTransmitted") {
        return areSettled(stored, variable, in: context) ? [] : nil
    }
    if let wrapper = wrapper(of: variable) {
        context.refuse(
            wrapper, "propertyWrapper",
            "@\(attributeName(wrapper)) changes how the property is stored, which the wire cannot "
                + "see; store a plain property and wrap it in a computed one")
        return nil
    }
    let isConstant = variable.bindingSpecifier.tokenKind == .keyword(.let)
    let aliases = wireAliases(variable.attributes, declared: stored.count, in: context)
    var fields: [WireField] = []
    // In `var a, b: Int`, only the last name has the annotation.
    var annotation: TypeSyntax?
    for binding in variable.bindings.reversed() where !isComputed(binding) {
        if binding.initializer != nil { annotation = nil }
        annotation = binding.typeAnnotation?.type ?? annotation
        if isConstant, binding.initializer != nil { continue }
        guard let field = field(binding, annotation, of: variable, in: context) else { return nil }
        fields.append(field)
    }
    if fields.count == 1 { fields[0].aliases = aliases }
    for index in fields.indices { fields[index].isSecret = names.contains("WireSecret") }
    if names.contains("Pulse") { fields = fields.map(\.pulsing) }
    return fields.reversed()
}

/// Whether a property that is not encoded has a value after decoding; otherwise reports it.
private func areSettled(
    _ stored: some Sequence<PatternBindingSyntax>, _ variable: VariableDeclSyntax,
    in context: some MacroExpansionContext
) -> Bool {
    for binding in stored where !hasInitialValue(binding, variable) {
        context.refuse(
            binding, "notTransmittedNeedsDefault",
            "\(binding.pattern.trimmedDescription) is not encoded, so decoding needs "
                + "a value for it; give it one: \(binding.trimmedDescription) = ...")
        return false
    }
    return true
}

private func field(
    _ binding: PatternBindingSyntax, _ annotation: TypeSyntax?, of variable: VariableDeclSyntax,
    in context: some MacroExpansionContext
) -> WireField? {
    guard let pattern = binding.pattern.as(IdentifierPatternSyntax.self) else {
        context.refuse(
            binding.pattern, "tuplePattern",
            "a field needs its own name; declare one property a line")
        return nil
    }
    let name = plainName(pattern.identifier)
    let type: String
    var isInferred = false
    if let annotation {
        guard let codable = codableType(annotation, of: "\"\(name)\"", in: context) else {
            return nil
        }
        type = codable
    } else if let initial = binding.initializer?.value, let inferred = InferredType(initial) {
        type = inferred.text
        isInferred = !inferred.isCertain
    } else {
        let guess = (binding.initializer?.value).flatMap(InferredType.guess)
        context.refuse(
            pattern, "typeMissing",
            "the type of \"\(name)\" is not visible to @WireCodable; write it: \(name): "
                + (guess ?? "Type"),
            fix: guess.flatMap { guess in
                // The author completes the arguments of a generic type.
                guess.hasSuffix("Type>")
                    ? nil : .insert(": \(guess)", after: pattern, "insert ': \(guess)'")
            })
        return nil
    }
    return WireField(
        name: WireBytes(name), identifier: pattern.identifier.text, type: type,
        defaultValue: binding.initializer.map { WireDefault($0.value) },
        doc: docComment(variable), isPublic: isPublic(variable),
        gate: WireGate(type, isInferred: isInferred, at: binding, in: context))
}

private func isPublic(_ variable: VariableDeclSyntax) -> Bool {
    accessKeyword(variable.modifiers) == "public"
        && !variable.modifiers.contains { $0.detail != nil }
}

/// Whether the binding has no storage.
func isComputed(_ binding: PatternBindingSyntax) -> Bool {
    switch binding.accessorBlock?.accessors {
    case nil: return false
    case .getter: return true
    case .accessors(let accessors):
        return !accessors.allSatisfy {
            ["willSet", "didSet"].contains($0.accessorSpecifier.text)
        }
    }
}

/// An attribute that is neither the compiler's nor this library's: a property wrapper, or a macro.
private func wrapper(of variable: VariableDeclSyntax) -> AttributeSyntax? {
    for case .attribute(let attribute) in variable.attributes {
        let name = attributeName(attribute)
        if name != "Pulse", !isMarker(name), name.first?.isUppercase == true { return attribute }
    }
    return nil
}

// MARK: - Checks for structs and enums
/// Refuses properties and cases inside `#if`, which the macro would have to evaluate.
func refuseConditionals(
    _ members: MemberBlockSyntax, in context: some MacroExpansionContext
) -> Bool {
    var isComplete = true
    for member in members.members {
        guard let conditional = member.decl.as(IfConfigDeclSyntax.self) else { continue }
        let held = conditional.clauses.compactMap {
            $0.elements?.as(MemberBlockItemListSyntax.self)
        }
        let hidesFields = held.joined().contains { item in
            if item.decl.is(EnumCaseDeclSyntax.self) { return true }
            guard let variable = item.decl.as(VariableDeclSyntax.self) else { return false }
            return isInstance(variable) && variable.bindings.contains { !isComputed($0) }
        }
        guard hidesFields else { continue }
        context.refuse(
            conditional, "conditional",
            "a value has the same form in every build; move this out of #if")
        isComplete = false
    }
    return isComplete
}

/// Refuses two fields or cases with the same name or alias.
func refuseDuplicates(
    _ named: [([WireBytes], String)], at place: some SyntaxProtocol,
    in context: some MacroExpansionContext
) -> Bool {
    var seen: Set<WireBytes> = []
    for (names, what) in named {
        for name in names where !seen.insert(name).inserted {
            context.refuse(
                place, "duplicateName",
                "the wire name \"\(name.text)\" belongs to more than one \(what); rename one, or "
                    + "remove the alias")
            return false
        }
    }
    return true
}
