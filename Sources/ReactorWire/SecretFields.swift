/// Hides the values in a type's fields and cases with ``WireSecret()``.
///
///     let secrets = SecretFields(of: Action.wireSchema)
///     let shown = secrets.hidden(in: action)     // {"setPassword":"(secret)"}
///
/// *Place*: before a past action or mutation is shown. A part that does not fit its type, as of a
/// client that misspelt a name, is hidden as a whole: it may contain the secret at another place.
package struct SecretFields: Sendable {
    private let schema: WireSchema

    /// The text in the place of a hidden value.
    package static let text = "(secret)"

    /// The secrets of a type; `nil` if it has none.
    package init?(of schema: WireSchema) {
        guard Self.hasSecret(schema) else { return nil }
        self.schema = schema
    }

    /// The value without its secrets.
    package func hidden(in value: WireValue) -> WireValue {
        var walk = Walk()
        return walk.hidden(value, schema)
    }

    /// Whether a type has marks, apart from those of the types that enclose it.
    private static func hasSecret(_ schema: WireSchema) -> Bool {
        switch schema {
        case .bool, .integer, .float, .text, .bytes, .any, .duration, .reference: false
        case .optional(let inner), .array(let inner), .map(let inner): hasSecret(inner)
        case .named(let named): hasSecret(named.schema)
        case .record(let record):
            !record.origin.secrets.isEmpty || record.fields.contains { hasSecret($0.schema) }
        case .choice(let choice):
            !choice.origin.secrets.isEmpty
                || choice.cases.contains { $0.payload.schemas.contains(where: hasSecret) }
        }
    }
}

extension SecretFields {
    /// A walk through a value and its schema in parallel, as deep as the value.
    private struct Walk {
        /// The enclosing records and choices, outermost first.
        private var enclosing: [(name: String, schema: WireSchema)] = []

        init() {}

        private static let secret = WireValue.text(SecretFields.text)

        mutating func hidden(_ value: WireValue, _ schema: WireSchema) -> WireValue {
            switch (schema, value) {
            case (.any, _), (.optional, .null): return value
            case (.bool, _), (.integer, _), (.float, _), (.text, _), (.bytes, _), (.duration, _):
                return schema.check(value).isEmpty ? value : Self.secret
            case (.named(let named), _): return hidden(value, named.schema)
            case (.optional(let wrapped), _): return hidden(value, wrapped)
            case (.reference(let name), _): return hidden(value, enclosingNamed: name)
            case (.array(let element), .array(let values)):
                return .array(values.map { hidden($0, element) })
            case (.map(let element), .map(let map)):
                return .map(map.mapValues { hidden($1, element) })
            case (.record(let record), .map(let map)):
                return within(record.name, schema) {
                    .map($0.hidden(map, record.fields, record.origin.secrets))
                }
            case (.choice(let choice), _):
                return within(choice.name, schema) { $0.hidden(value, choice) }
            default: return Self.secret
            }
        }

        private mutating func hidden(_ value: WireValue, enclosingNamed name: String) -> WireValue {
            let indices = enclosing.indices.filter { enclosing[$0].name == name }
            guard !indices.isEmpty else { return Self.secret }
            // Two forms of a generic type have one name: what one of them hides is hidden.
            var value = value
            for index in indices {
                // The types inside that one do not enclose the value.
                let inside = Array(enclosing[index...])
                enclosing.removeLast(inside.count)
                value = hidden(value, inside[0].schema)
                enclosing += inside
            }
            return value
        }

        private mutating func hidden(
            _ map: WireMap, _ fields: [WireSchema.Field], _ secrets: [String]
        ) -> WireMap {
            map.mapValues { key, value in
                guard let field = fields.first(where: { $0.isCalled(key) }) else {
                    // It may be, or contain, a secret field under a misspelt or a former name.
                    return Self.secret
                }
                return secrets.contains(field.name) ? Self.secret : hidden(value, field.schema)
            }
        }

        private mutating func hidden(
            _ value: WireValue, _ choice: WireSchema.Choice
        ) -> WireValue {
            let secrets = choice.origin.secrets
            switch value {
            case .text(let name) where choice.cases.contains { $0.isCalled(WireKey(name)) }:
                return value
            case .map(let map) where map.count == 1:
                guard let pair = map.first,
                    let found = choice.cases.first(where: { $0.isCalled(pair.key) })
                else { break }
                return .map(
                    map.mapValues { _, payload in
                        secrets.contains(found.name)
                            ? Self.secret : hidden(payload, found.payload)
                    })
            default: break
            }
            return Self.secret
        }

        private mutating func hidden(
            _ value: WireValue, _ payload: WireSchema.Payload
        ) -> WireValue {
            switch (payload, value) {
            case (.none, .map(let map)) where map.isEmpty: return value
            case (.single(let schema), _): return hidden(value, schema)
            case (.tuple(let schemas), .array(let values)) where schemas.count == values.count:
                return .array(zip(values, schemas).map { hidden($0, $1) })
            case (.record(let fields), .map(let map)): return .map(hidden(map, fields, []))
            default: return Self.secret
            }
        }

        private mutating func within(
            _ name: String, _ schema: WireSchema, _ body: (inout Walk) -> WireValue
        ) -> WireValue {
            enclosing.append((name, schema))
            defer { enclosing.removeLast() }
            return body(&self)
        }
    }
}

extension WireMap {
    /// A map with the same keys.
    fileprivate func mapValues(_ body: (WireKey, WireValue) -> WireValue) -> WireMap {
        var map = self
        for pair in self { map[pair.key] = body(pair.key, pair.value) }
        return map
    }
}
