/// The steps that convert stored values of a type to the version of today.
///
///     struct Address {
///         static var wireVersion: Int { 3 }
///
///         static var wireMigrations: WireMigrations {
///             .from(1) { try $0.rename("street", to: "road") }
///             .from(2) { try $0.set("country", to: "CH") }
///         }
///     }
///
/// The steps are in ascending order without a gap, and the last begins at the version before
/// ``WireCodable/wireVersion``. The first steps may be removed together with the support of these
/// versions. Values within the converted value already have the version of today: see
/// ``MigratedValue``.
public struct WireMigrations: Sendable {
    /// Converts a value from one version to the next. An error refuses the value, and with it the
    /// start.
    public typealias Step = @Sendable (_ value: inout MigratedValue) throws -> Void

    /// The steps, with the versions that they begin at, in the author's order.
    package private(set) var steps: [(version: Int, body: Step)] = []
    /// Earlier names of the type.
    package private(set) var formerNames: [String] = []

    /// No steps: every type has these by default.
    public static var none: WireMigrations { WireMigrations() }

    /// The step from `version` to the next version.
    public static func from(_ version: Int, _ step: @escaping Step) -> WireMigrations {
        none.from(version, step)
    }

    /// Adds the step from `version` to the next version.
    public func from(_ version: Int, _ step: @escaping Step) -> WireMigrations {
        var longer = self
        longer.steps.append((version, step))
        return longer
    }

    /// Earlier names of the type, with the names of its enclosing types: `Shop.Address`.
    public static func formerly(_ names: String...) -> WireMigrations {
        var named = none
        named.formerNames = names
        return named
    }

    /// Adds earlier names of the type, with the names of its enclosing types: `Shop.Address`.
    public func formerly(_ names: String...) -> WireMigrations {
        var named = self
        named.formerNames += names
        return named
    }
}

extension WireMigrations {
    /// Converts a value from `version` to the version after the last step: for a test of the steps.
    ///
    /// *Throws*: what a step throws; ``MigratedValue/Problem`` if there is no step from `version`.
    public func apply(to value: WireValue, from version: Int) throws -> WireValue {
        guard let steps = steps(from: version) else {
            throw MigratedValue.Problem("there is no step from version \(version)")
        }
        var migrated = MigratedValue(value)
        for step in steps { try step.body(&migrated) }
        return migrated.value
    }
}

// MARK: - The chain
extension WireMigrations {
    /// The author's mistake in the chain of a type of the version `today`, with the remedy.
    package func problem(today: Int) -> String? {
        if today < 1 { return "has version \(today): the first version is 1" }
        var expected = steps.first?.version ?? today
        if expected < 1 { return "has a step from version \(expected): the first version is 1" }
        for step in steps {
            if let problem = problem(of: step.version, expected, today) { return problem }
            expected += 1
        }
        guard today > 1, expected <= today, steps.isEmpty || expected < today else { return nil }
        let last = steps.isEmpty ? today - 1 : expected
        return "has version \(today), and no step from version \(last): add `.from(\(last))`"
    }

    private func problem(of version: Int, _ expected: Int, _ today: Int) -> String? {
        if version >= today {
            return "has version \(today), and a step from version \(version): raise `wireVersion` "
                + "to \(version + 1), or remove the step"
        }
        if version > expected {
            return "has a step from version \(version), and none from \(expected) before it: add "
                + "`.from(\(expected))`, or remove the steps before the gap"
        }
        if version == expected - 1 { return "has two steps from version \(version): remove one" }
        if version < expected {
            return "has a step from version \(version) after the one from \(expected - 1): put the "
                + "steps in ascending order"
        }
        return nil
    }

    /// The steps from `stored` to the version of today; `nil` if the first of them is not there.
    func steps(from stored: Int) -> ArraySlice<(version: Int, body: Step)>? {
        guard let index = steps.firstIndex(where: { $0.version == stored }) else { return nil }
        return steps[index...]
    }
}

// MARK: - A value in a step
/// A stored value of a struct or an enum, while a step of ``WireMigrations`` converts it.
///
///     .from(1) { address in
///         try address.rename("street", to: "road")
///         try address.convert("zip") { (zip: Int) in String(zip) }
///     }
///     .from(2) { action in
///         action.renameCase("warm", to: "heat")
///         try action.inCase("heat") { try $0.rename("by", to: "to") }
///     }
///
/// The value's own fields and cases are those of the version that the step begins at. Values of
/// other types within it already have the version of today, so a step reads and writes them with
/// today's types.
public struct MigratedValue: Equatable, Sendable {
    /// The value in the form of the wire: a map of the fields, or a map with the name of the case
    /// and its values. A step may replace it.
    public var value: WireValue

    package init(_ value: WireValue) { self.value = value }

    /// A mistake that a step finds: the value is not what the step expects.
    public struct Problem: Error, Equatable, CustomStringConvertible {
        /// What the step expects, and what the value has instead.
        public var description: String

        /// Refuses a value for this reason.
        public init(_ description: String) { self.description = description }
    }
}

// MARK: - Fields
extension MigratedValue {
    /// The value of a field, if the value has the field.
    public subscript(field: WireKey) -> WireValue? { value[field] }

    /// Reads a field with today's `type`.
    ///
    /// *Throws*: ``Problem`` if there is no such field, or if it is no value of the type.
    public func read<Value: WireCodable>(
        _ field: WireKey, as type: Value.Type = Value.self
    ) throws -> Value {
        let stored = try existing(field)
        do throws(WireError) {
            return try stored.decoded(as: type)
        } catch {
            throw Problem("field \(field.text.quoted()): \(error)")
        }
    }

    /// Sets or adds a field.
    ///
    /// *Throws*: ``Problem`` if the value has no fields.
    public mutating func set(_ field: WireKey, to new: some WireCodable) throws {
        var fields = try fields()
        fields[field] = try WireValue(encoding: new)
        value = .map(fields)
    }

    /// Removes a field. Returns its value, if there was one.
    @discardableResult
    public mutating func remove(_ field: WireKey) -> WireValue? {
        guard case .map(var fields) = value, let removed = fields[field] else { return nil }
        fields[field] = nil
        value = .map(fields)
        return removed
    }

    /// Moves the value of a field to another name.
    ///
    /// *Throws*: ``Problem`` if there is no such field, or a field with the new name.
    public mutating func rename(_ field: WireKey, to name: WireKey) throws {
        let stored = try existing(field)
        if self[name] != nil {
            throw Problem(
                "field \(field.text.quoted()) cannot become \(name.text.quoted()), which the value "
                    + "has already: remove that field first")
        }
        remove(field)
        try set(name, to: stored)
    }

    /// Replaces the value of a field by a value computed from it; both may be of any type.
    ///
    /// *Throws*: ``Problem`` if there is no such field or if it is no value of the type; what
    /// `body` throws.
    public mutating func convert<Old: WireCodable, New: WireCodable>(
        _ field: WireKey, _ body: (Old) throws -> New
    ) throws {
        let stored = try existing(field)
        let old: Old
        do throws(WireError) {
            // Strictly, since a part that `Old` lacks would be lost.
            old = try Old(keptBytes: stored.wireBytes().span)
        } catch {
            throw Problem("field \(field.text.quoted()): \(error)")
        }
        try set(field, to: try body(old))
    }

    private func existing(_ field: WireKey) throws -> WireValue {
        let fields = try fields()
        if let found = fields[field] { return found }
        let names = WireSchema.list(fields.keys.map(\.text))
        throw Problem("there is no field \(field.text.quoted()): the value has \(names)")
    }

    private func fields() throws -> WireMap {
        guard case .map(let fields) = value else {
            throw Problem("expected fields, got \(value.kind)")
        }
        return fields
    }
}

// MARK: - Cases
extension MigratedValue {
    /// The name of the case of an enum; `nil` if this is no value of an enum.
    public var caseName: WireKey? {
        switch value {
        case .text(let name): WireKey(name)
        case .map(let map) where map.count == 1: map[0].key
        default: nil
        }
    }

    /// Renames a case, if the value is of this case.
    public mutating func renameCase(_ name: WireKey, to new: WireKey) {
        guard caseName == name else { return }
        value = .map([new: payload])
    }

    /// Converts the payload of a case, if the value is of this case.
    ///
    /// Labelled values are the fields of the payload; a single value without a label is the
    /// payload itself, and several are an array.
    public mutating func inCase(
        _ name: WireKey, _ body: (_ payload: inout MigratedValue) throws -> Void
    ) rethrows {
        guard caseName == name else { return }
        var inner = MigratedValue(payload)
        try body(&inner)
        value = .map([name: inner.value])
    }

    private var payload: WireValue {
        if case .map(let map) = value, let pair = map.first { pair.value } else { [:] }
    }
}
