/// Finds the cases with ``WireInternal()`` in values of a schema, also in fields and payloads.
///
/// *Cost*: a step for each of those parts of a value whose types have such cases.
package struct InternalCases: Sendable {
    /// What a part of a value may contain.
    private indirect enum Part: Sendable {
        /// No such case.
        case free
        case elements(Part)
        case values(Part)
        case positions([Part])
        case fields([String: Part])
        case cases(hidden: Set<String>, [String: Part])
        /// A struct or an enum, to which ``enclosing`` refers by its name.
        case scope(String, Part)
        /// An enclosing struct or enum of this name. Several types may have one name, such as
        /// `Either<A, B>` and `Either<B, A>`.
        case enclosing(String)

        var isFree: Bool { if case .free = self { true } else { false } }
    }

    /// The types of one name make too many readings of a value possible.
    package struct Exhausted: Error, CustomStringConvertible {
        package var description: String { "its types of one name have too many readings" }
    }

    private let top: Part
    /// Whether a field or a payload of a value may have such a case; else only its top may.
    package let areInside: Bool

    /// Prepares for values of `schema`, which was made in this process; `nil` if the schema has no
    /// such case.
    package init?(of schema: WireSchema) {
        var builder = Builder()
        top = builder.part(schema)
        if !builder.hasFound { return nil }
        if case .scope(_, .cases(_, let parts)) = top {
            areInside = !parts.isEmpty
        } else {
            areInside = true
        }
    }

    /// The names from the top of a value to such a case, as in `run.expire`; `nil` if it has none.
    /// `bytes` encode a value of the schema, in the form of the encoder.
    ///
    /// A part whose type is inside another one of its name, such as `Either<A, B>` in `Either<B, A>`,
    /// is read as each of them, so a value may be refused for a reading that is not its own.
    ///
    /// *Throws*: a `WireError` for other bytes; ``Exhausted`` instead of taking more than eight steps
    /// for each byte.
    package func find(in bytes: [UInt8]) throws -> String? {
        var search = Search(stepsLeft: 8 * bytes.count)
        return try search.find(in: WireValue(wireBytes: bytes), top)?.reversed()
            .joined(separator: ".")
    }
}

// MARK: - Preparation
extension InternalCases {
    /// Makes the parts of a schema. A part without such cases is ``Part/free``, unless it refers to
    /// an enclosing type that is still being read.
    private struct Builder {
        var hasFound = false
        /// The enclosing names to which the part that was read last refers.
        private var references: Set<String> = []
        /// The names of the types that are being read, the innermost last.
        private var open: [String] = []

        mutating func part(_ schema: WireSchema) -> Part {
            switch schema {
            case .bool, .integer, .float, .text, .bytes, .any, .duration: .free
            case .optional(let wrapped): part(wrapped)
            case .named(let named): part(named.schema)
            case .array(let element): Self.wrap(part(element), Part.elements)
            case .map(let value): Self.wrap(part(value), Part.values)
            case .record(let record): scope(record.name) { $0.fields(record.fields) }
            case .choice(let choice): scope(choice.name) { $0.cases(choice) }
            case .reference(let name): reference(name)
            }
        }

        private static func wrap(_ inner: Part, _ wrap: (Part) -> Part) -> Part {
            inner.isFree ? .free : wrap(inner)
        }

        private mutating func reference(_ name: String) -> Part {
            references.insert(name)
            return .enclosing(name)
        }

        private mutating func scope(_ name: String, _ read: (inout Builder) -> Part) -> Part {
            let (outer, before) = (references, hasFound)
            (references, hasFound) = ([], false)
            open.append(name)
            let part = read(&self)
            open.removeLast()
            // With another type of this name around, the reference may be to that one.
            if !open.contains(name) { references.remove(name) }
            let isFree = !hasFound && references.isEmpty
            references.formUnion(outer)
            hasFound = hasFound || before
            return isFree ? .free : .scope(name, part)
        }

        private mutating func fields(_ fields: [WireSchema.Field]) -> Part {
            var parts: [String: Part] = [:]
            for field in fields {
                let part = part(field.schema)
                if !part.isFree { parts[field.name] = part }
            }
            return parts.isEmpty ? .free : .fields(parts)
        }

        private mutating func cases(_ choice: WireSchema.Choice) -> Part {
            let hidden = Set(choice.origin.internalCases)
            var parts: [String: Part] = [:]
            for item in choice.cases where !hidden.contains(item.name) {
                let part = payload(item.payload)
                if !part.isFree { parts[item.name] = part }
            }
            if !hidden.isEmpty { hasFound = true }
            return hidden.isEmpty && parts.isEmpty ? .free : .cases(hidden: hidden, parts)
        }

        private mutating func payload(_ payload: WireSchema.Payload) -> Part {
            switch payload {
            case .none: return .free
            case .single(let schema): return part(schema)
            case .record(let fields): return self.fields(fields)
            case .tuple(let schemas):
                var parts: [Part] = []
                for schema in schemas { parts.append(part(schema)) }
                return parts.allSatisfy(\.isFree) ? .free : .positions(parts)
            }
        }
    }
}

// MARK: - Search
extension InternalCases {
    /// One search; the names of a result begin with the innermost.
    private struct Search {
        var stepsLeft: Int
        private var scopes: [(name: String, part: Part)] = []

        init(stepsLeft: Int) { self.stepsLeft = stepsLeft }

        mutating func find(in value: WireValue, _ part: Part) throws(Exhausted) -> [String]? {
            guard !part.isFree else { return nil }
            stepsLeft -= 1
            guard stepsLeft >= 0 else { throw Exhausted() }
            switch (part, value) {
            case (.scope(let name, let inner), _):
                scopes.append((name, inner))
                defer { scopes.removeLast() }
                return try find(in: value, inner)
            case (.enclosing(let name), _): return try findEnclosing(in: value, name)
            case (.elements(let element), .array(let values)):
                for value in values {
                    if let found = try find(in: value, element) { return found }
                }
            case (.positions(let parts), .array(let values)):
                for (part, value) in zip(parts, values) {
                    if let found = try find(in: value, part) { return found }
                }
            case (.values(let element), .map(let map)):
                for pair in map {
                    if let found = try find(in: pair.value, element) { return found }
                }
            case (.fields(let parts), .map(let map)):
                for pair in map {
                    guard let part = parts[pair.key.text] else { continue }
                    if let found = try find(in: pair.value, part) { return found }
                }
            case (.cases(let hidden, _), .text(let name)):
                return hidden.contains(name) ? [name] : nil
            case (.cases(let hidden, let parts), .map(let map)):
                guard let pair = map.first else { return nil }
                let name = pair.key.text
                if hidden.contains(name) { return [name] }
                guard let part = parts[name] else { return nil }
                return try find(in: pair.value, part).map { $0 + [name] }
            default: break
            }
            return nil
        }

        /// Reads `value` as each enclosing type of this name, the innermost first.
        private mutating func findEnclosing(
            in value: WireValue, _ name: String
        ) throws(Exhausted) -> [String]? {
            for index in scopes.indices.reversed() where scopes[index].name == name {
                // The types inside that one do not enclose the value.
                let below = Array(scopes[(index + 1)...])
                scopes.removeLast(below.count)
                defer { scopes += below }
                if let found = try find(in: value, scopes[index].part) { return found }
            }
            return nil
        }
    }
}

// MARK: - The schema for clients
extension InternalCases {
    /// `schema` without the cases that only the daemon sends, also in fields and payloads.
    package static func removed(from schema: WireSchema) -> WireSchema {
        switch schema {
        case .optional(let wrapped): return .optional(removed(from: wrapped))
        case .array(let element): return .array(removed(from: element))
        case .map(let value): return .map(removed(from: value))
        case .named(var named):
            named.schema = removed(from: named.schema)
            return .named(named)
        case .record(var record):
            record.fields = record.fields.map { removed(from: $0) }
            return .record(record)
        case .choice(var choice):
            let hidden = choice.origin.internalCases
            choice.cases = choice.cases.compactMap { item in
                guard !hidden.contains(item.name) else { return nil }
                var item = item
                item.payload = removed(from: item.payload)
                return item
            }
            return .choice(choice)
        case .bool, .integer, .float, .text, .bytes, .any, .duration, .reference: return schema
        }
    }

    private static func removed(from field: WireSchema.Field) -> WireSchema.Field {
        var field = field
        field.schema = removed(from: field.schema)
        return field
    }

    private static func removed(from payload: WireSchema.Payload) -> WireSchema.Payload {
        switch payload {
        case .none: .none
        case .single(let schema): .single(removed(from: schema))
        case .tuple(let schemas): .tuple(schemas.map { removed(from: $0) })
        case .record(let fields): .record(fields.map { removed(from: $0) })
        }
    }
}
