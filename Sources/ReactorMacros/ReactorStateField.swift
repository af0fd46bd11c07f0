import SwiftSyntax
import SwiftSyntaxMacros

/// A stored property whose changes `@ReactorState` records.
struct ReactorStateField {
    /// The name without backticks.
    var name: String
    /// The name as in the source, perhaps in backticks.
    var identifier: String
    var isIgnored: Bool
    /// Whether the field is a `@Pulse`, which counts its assignments itself.
    var isPulse: Bool
    /// The field's index among the fields; fields beyond the last index share it.
    var index = 0

    /// The largest index: the marks of a state are bits of one word.
    static let indexMax = 62

    /// The name of the stored property behind the field.
    var storage: String { "_\(name)" }
}

/// The struct that `@ReactorState` is attached to.
struct ReactorStateType {
    var fields: [ReactorStateField] = []
    var access: WireAccess
    /// Whether all properties can be recorded.
    var isComplete = true
    /// Whether bodies that other modules could see are hidden from them, since the state has a pulse.
    private(set) var hidesBodies = false

    /// Reads `declaration`; reports properties that cannot be recorded to `context`.
    init(_ declaration: some DeclGroupSyntax, in context: some MacroExpansionContext) {
        access = WireAccess(declaration.modifiers, in: context.lexicalContext)
        for member in declaration.memberBlock.members {
            guard let variable = member.decl.as(VariableDeclSyntax.self) else { continue }
            switch ReactorStateField.read(variable) {
            case .none: continue
            case .field(var field):
                field.index = min(fields.count, ReactorStateField.indexMax)
                fields.append(field)
            case .problem(let problem):
                context.refuse(problem.node, problem.id, problem.message)
                isComplete = false
            }
        }
        // An inlinable body may only use declarations that other modules can see.
        hidesBodies = access.isInlinable && fields.contains(where: \.isPulse)
        if hidesBodies { access.isInlinable = false }
    }

    /// The field that `variable` declares.
    func field(_ variable: VariableDeclSyntax) -> ReactorStateField? {
        guard let pattern = variable.bindings.first?.pattern.as(IdentifierPatternSyntax.self) else {
            return nil
        }
        return fields.first { $0.name == plainName(pattern.identifier) }
    }
}

extension ReactorStateField {
    /// The meaning of a property for `@ReactorState`.
    enum Reading {
        /// A constant or computed property.
        case none
        case field(ReactorStateField)
        case problem(Problem)
    }

    /// The reason why a property cannot be recorded.
    struct Problem {
        var node: Syntax
        var id: String
        var message: String
    }

    static func read(_ variable: VariableDeclSyntax) -> Reading {
        let stored = variable.bindings.filter { !isComputed($0) }
        guard !stored.isEmpty, isInstance(variable),
            variable.bindingSpecifier.tokenKind == .keyword(.var)
        else { return .none }
        guard variable.bindings.count == 1, let binding = stored.first,
            let pattern = binding.pattern.as(IdentifierPatternSyntax.self)
        else {
            return .problem(
                Problem(
                    node: Syntax(variable.bindings), id: "severalBindings",
                    message: "@ReactorState records each property by itself; declare one a line"))
        }
        guard binding.accessorBlock == nil else {
            return .problem(
                Problem(
                    node: Syntax(binding), id: "observers",
                    message: "@ReactorState replaces the accessors, which willSet and didSet are "
                        + "part of; compute what follows from the change in reduce"))
        }
        let names = attributeNames(variable)
        if let wrapper = names.first(where: isWrapper) {
            return .problem(
                Problem(
                    node: Syntax(variable.attributes), id: "wrapper",
                    message: "@\(wrapper) stores the property itself, where @ReactorState cannot "
                        + "see it change; store a plain property and wrap it in a computed one"))
        }
        return .field(
            ReactorStateField(
                name: plainName(pattern.identifier), identifier: pattern.identifier.text,
                isIgnored: names.contains("Ignored"), isPulse: names.contains("Pulse")))
    }

    private static func isWrapper(_ name: String) -> Bool {
        name.first?.isUppercase == true && name != "Pulse" && !isMarker(name)
    }
}

/// Names of the attributes of a property.
func attributeNames(_ variable: VariableDeclSyntax) -> [String] {
    variable.attributes.compactMap { element in
        guard case .attribute(let attribute) = element else { return nil }
        return attributeName(attribute)
    }
}

/// Whether an attribute is one of this library's markers, which add no storage.
func isMarker(_ name: String) -> Bool {
    ["WireAlias", "WireSecret", "Ignored", "NotTransmitted", "ReactorStateField"].contains(name)
}
