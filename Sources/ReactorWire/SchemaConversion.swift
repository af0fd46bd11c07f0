/// Converts stored values to the versions of today's types.
///
///     let conversion = try SchemaConversion(from: stored, to: State.wireSchema, with: types)
///     let value = conversion.isNeeded ? try conversion.convert(value) : value
///
/// It walks through a value in parallel with the schema under which the value was stored. Wherever
/// a type of an earlier version is, it applies the steps of today's type of that name: first to the
/// values within, then to the value itself. So a step finds the values within in the form of
/// today's types. The result is meant to be read strictly, with aliases and removed fields.
package struct SchemaConversion: Sendable {
    /// Whether the stored schema has a type of another version than today's.
    package let isNeeded: Bool
    private let plan: Plan

    /// Plans the conversion of values of the schema `stored` to values of the schema `today`.
    ///
    /// *Throws*: ``MigrationError`` if the stored schema has a type of a newer version than today's.
    package init(
        from stored: WireSchema, to today: WireSchema, with types: VersionedTypes
    ) throws(MigrationError) {
        var planner = Planner(types: types, renaming: Renaming(from: stored, to: today))
        plan = try planner.plan(stored)
        isNeeded = planner.isNeeded
    }

    /// Converts one value.
    ///
    /// *Throws*: ``MigrationError`` with the place of the value that a step refuses.
    package func convert(_ value: WireValue) throws(MigrationError) -> WireValue {
        var walk = Walk()
        var value = value
        try walk.convert(&value, by: plan)
        return value
    }
}

/// The reason why a stored value cannot be converted to today's version of its type.
package struct MigrationError: Error, Equatable, Sendable, CustomStringConvertible {
    /// Names from the outermost value to the place; in an error about a schema, the names of the
    /// enclosing fields and cases.
    package var path: [String]
    /// Name of the type in the program.
    package var type: String
    /// What is wrong, as a continuation of the type's name.
    package var reason: String

    /// Makes an error about a place.
    package init(path: [String] = [], type: String, reason: String) {
        (self.path, self.type, self.reason) = (path, type, reason)
    }

    package var description: String {
        let place = path.isEmpty ? "value" : path.map(\.printable).joined(separator: ".")
        return "\(place): \(type) \(reason)"
    }
}

/// What to do with the values at one place of a schema.
private indirect enum Plan: Sendable {
    /// Nothing within has another version.
    case keep
    case optional(Plan)
    case elements(Plan)
    case values(Plan)
    case record([WireKey: Plan], Chain)
    case choice([WireKey: Payload], Chain)
    /// The plan of the enclosing type of this name.
    case enclosing(String)

    enum Payload: Sendable {
        case single(Plan)
        case tuple([Plan])
        case record([WireKey: Plan])
    }

    /// The steps of a type, by the type's name in the stored schema.
    struct Chain: Sendable {
        var stored: String
        var name: String
        var version: Int
        /// `nil` if the program has no step from `version`.
        var steps: ArraySlice<(version: Int, body: WireMigrations.Step)>? = []
    }
}

/// The names of today for stored names of types within a renamed type: `Shop.Item` became
/// `Store.Item` together with `Shop.State`.
private struct Renaming {
    private var stored: [Substring] = []
    private var today: [Substring] = []

    init(from stored: WireSchema, to today: WireSchema) {
        guard let stored = Self.name(of: stored), let today = Self.name(of: today) else { return }
        var old = stored.split(separator: ".")
        var new = today.split(separator: ".")
        while let last = old.last, last == new.last {
            old.removeLast()
            new.removeLast()
        }
        (self.stored, self.today) = (old, new)
    }

    private static func name(of schema: WireSchema) -> String? {
        switch schema {
        case .record(let record): record.name
        case .choice(let choice): choice.name
        default: nil
        }
    }

    func callAsFunction(_ name: String) -> String? {
        let parts = name.split(separator: ".")
        guard stored != today, parts.starts(with: stored) else { return nil }
        return (today + parts.dropFirst(stored.count)).joined(separator: ".")
    }
}

// MARK: - Planning
private struct Planner {
    let types: VersionedTypes
    let renaming: Renaming
    var isNeeded = false
    private var path: [String] = []

    init(types: VersionedTypes, renaming: Renaming) {
        self.types = types
        self.renaming = renaming
    }

    mutating func plan(_ schema: WireSchema) throws(MigrationError) -> Plan {
        switch schema {
        case .bool, .integer, .float, .text, .bytes, .any, .duration, .named: return .keep
        case .optional(let inner):
            let plan = try plan(inner)
            return plan.isKept ? .keep : .optional(plan)
        case .array(let inner):
            let plan = try plan(inside: "*", inner)
            return plan.isKept ? .keep : .elements(plan)
        case .map(let inner):
            let plan = try plan(inside: "*", inner)
            return plan.isKept ? .keep : .values(plan)
        case .record(let record):
            let chain = try chain(of: record.name, record.version)
            let fields = try plans(record.fields)
            return .record(fields, chain)
        case .choice(let choice):
            let chain = try chain(of: choice.name, choice.version)
            var payloads: [WireKey: Plan.Payload] = [:]
            for item in choice.cases {
                path.append(item.name)
                payloads[WireKey(item.name)] = try payload(item.payload)
                path.removeLast()
            }
            return .choice(payloads, chain)
        case .reference(let name): return .enclosing(name)
        }
    }

    private mutating func plan(
        inside name: String, _ schema: WireSchema
    ) throws(MigrationError) -> Plan {
        path.append(name)
        defer { path.removeLast() }
        return try plan(schema)
    }

    private mutating func plans(
        _ fields: [WireSchema.Field]
    ) throws(MigrationError) -> [WireKey: Plan] {
        var plans: [WireKey: Plan] = [:]
        for field in fields {
            let plan = try plan(inside: field.name, field.schema)
            if !plan.isKept { plans[WireKey(field.name)] = plan }
        }
        return plans
    }

    private mutating func payload(
        _ payload: WireSchema.Payload
    ) throws(MigrationError) -> Plan.Payload? {
        switch payload {
        case .none: return nil
        case .single(let schema):
            let plan = try plan(schema)
            return plan.isKept ? nil : .single(plan)
        case .tuple(let schemas):
            var plans: [Plan] = []
            for schema in schemas { plans.append(try plan(schema)) }
            return plans.allSatisfy(\.isKept) ? nil : .tuple(plans)
        case .record(let fields):
            let plans = try plans(fields)
            return plans.isEmpty ? nil : .record(plans)
        }
    }

    /// The steps of today's type for values of the type that was stored under `name`.
    private mutating func chain(
        of name: String, _ version: Int
    ) throws(MigrationError) -> Plan.Chain {
        let today = types.find(name) ?? renaming(name).flatMap(types.find)
        var chain = Plan.Chain(stored: name, name: today?.name ?? name, version: version)
        guard let today, today.version != version else { return chain }
        guard version < today.version else {
            throw MigrationError(
                path: path, type: today.name,
                reason:
                    "has version \(version) in the history, and version \(today.version) in the "
                    + "program: start the newer program that wrote it")
        }
        isNeeded = true
        chain.steps = today.origin.migrations.steps(from: version)
        return chain
    }
}

extension Plan {
    /// Whether nothing is to be done, not even within.
    fileprivate var isKept: Bool {
        switch self {
        case .keep: true
        case .record(let fields, let chain): fields.isEmpty && chain.isEmpty
        case .choice(let payloads, let chain): payloads.isEmpty && chain.isEmpty
        case .optional, .elements, .values, .enclosing: false
        }
    }
}

extension Plan.Chain {
    fileprivate var isEmpty: Bool { steps?.isEmpty ?? false }
}

// MARK: - Converting
/// Walks through a value. The plans of the types around a place are on a stack, for references.
private struct Walk {
    private var path: [String] = []
    private var open: [(name: String, plan: Plan)] = []

    mutating func convert(_ value: inout WireValue, by plan: Plan) throws(MigrationError) {
        switch plan {
        case .keep: return
        case .optional(let inner): if value != .null { try convert(&value, by: inner) }
        case .elements(let inner):
            guard case .array(var elements) = value else { throw mismatch("an array", value) }
            for index in elements.indices {
                try convert(&elements[index], by: inner, inside: String(index))
            }
            value = .array(elements)
        case .values(let inner):
            guard case .map(var map) = value else { throw mismatch("a map", value) }
            for key in map.keys { try convert(&map, key, by: inner) }
            value = .map(map)
        case .record(let fields, let chain):
            guard case .map(var map) = value else {
                throw mismatch("the fields of \(chain.stored)", value)
            }
            open.append((chain.stored, plan))
            try convert(&map, fields)
            open.removeLast()
            value = .map(map)
            try apply(chain, to: &value)
        case .choice(let payloads, let chain):
            open.append((chain.stored, plan))
            try convert(&value, payloads, of: chain)
            open.removeLast()
            try apply(chain, to: &value)
        case .enclosing(let name): try convertAgain(&value, as: name)
        }
    }

    private mutating func convert(
        _ value: inout WireValue, by plan: Plan, inside name: String
    ) throws(MigrationError) {
        path.append(name)
        try convert(&value, by: plan)
        path.removeLast()
    }

    private mutating func convert(
        _ map: inout WireMap, _ key: WireKey, by plan: Plan
    ) throws(MigrationError) {
        // A field that was added without a new version may be absent.
        guard var value = map[key] else { return }
        try convert(&value, by: plan, inside: key.text)
        map[key] = value
    }

    private mutating func convert(
        _ map: inout WireMap, _ fields: [WireKey: Plan]
    ) throws(MigrationError) {
        for (key, plan) in fields.sorted(by: { $0.key < $1.key }) {
            try convert(&map, key, by: plan)
        }
    }

    private mutating func convert(
        _ value: inout WireValue, _ payloads: [WireKey: Plan.Payload], of chain: Plan.Chain
    ) throws(MigrationError) {
        if case .text = value { return }
        guard case .map(let map) = value, map.count == 1, var payload = map.first?.value,
            let name = map.first?.key
        else { throw mismatch("a case of \(chain.stored)", value) }
        guard let plan = payloads[name] else { return }
        path.append(name.text)
        switch (plan, payload) {
        case (.single(let plan), _): try convert(&payload, by: plan)
        case (.tuple(let plans), .array(var elements)):
            for (index, plan) in zip(elements.indices, plans) {
                try convert(&elements[index], by: plan, inside: String(index))
            }
            payload = .array(elements)
        case (.record(let fields), .map(var map)):
            try convert(&map, fields)
            payload = .map(map)
        default: throw mismatch("the values of the case", payload)
        }
        path.removeLast()
        value = .map([name: payload])
    }

    /// Converts a value of an enclosing type, in which that type's own plan applies.
    private mutating func convertAgain(
        _ value: inout WireValue, as name: String
    ) throws(MigrationError) {
        guard let index = open.lastIndex(where: { $0.name == name }) else {
            throw mismatch("the enclosing type \(name)", value)
        }
        let inner = open[index...]
        open.removeSubrange(index...)
        if let plan = inner.first?.plan { try convert(&value, by: plan) }
        open += inner
    }

    private func apply(
        _ chain: Plan.Chain, to value: inout WireValue
    ) throws(MigrationError) {
        guard let steps = chain.steps else {
            throw MigrationError(
                path: path, type: chain.name,
                reason: "has version \(chain.version) in the history, and the program has no step "
                    + "from that version: start a program that has it first")
        }
        guard !steps.isEmpty else { return }
        var migrated = MigratedValue(value)
        for step in steps {
            do {
                try step.body(&migrated)
            } catch {
                throw MigrationError(
                    path: path, type: chain.name,
                    reason: "of version \(chain.version) is refused by the step from version "
                        + "\(step.version): \(error)")
            }
        }
        value = migrated.value
    }

    private func mismatch(_ expected: String, _ value: WireValue) -> MigrationError {
        MigrationError(
            path: path, type: "the stored schema", reason: "expects \(expected), got \(value.kind)")
    }
}
