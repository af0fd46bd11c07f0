// The schema is encoded like any choice and record, so that a tool in any language can read it:
// `{"array":{"integer":{"max":9,"min":0}}}`.

extension WireSchema: WireCodable {
    public func encode(into writer: inout WireWriter) {
        writer.map(count: 1)
        writer.text(caseName)
        switch self {
        case .bool, .float, .text, .bytes, .any, .duration: writer.map(count: 0)
        case .integer(let min, let max):
            writer.map(count: 2)
            writer.text("max")
            writer.unsigned(max)
            writer.text("min")
            writer.integer(min)
        case .optional(let wrapped): wrapped.encode(into: &writer)
        case .array(let element): element.encode(into: &writer)
        case .map(let value): value.encode(into: &writer)
        case .record(let record): record.encode(into: &writer)
        case .choice(let choice): choice.encode(into: &writer)
        case .reference(let name): writer.text(name)
        }
    }

    private var caseName: String {
        switch self {
        case .bool: "bool"
        case .integer: "integer"
        case .float: "float"
        case .text: "text"
        case .bytes: "bytes"
        case .any: "any"
        case .duration: "duration"
        case .optional: "optional"
        case .array: "array"
        case .map: "map"
        case .record: "record"
        case .choice: "choice"
        case .reference: "reference"
        }
    }

    // A case without payload may be written as its bare name, so there are two tables.
    private static let plain: [String: WireSchema] = [
        "bool": .bool, "float": .float, "text": .text, "bytes": .bytes, "any": .any,
        "duration": .duration,
    ]

    private static let known =
        plain.keys.sorted() + [
            "integer", "optional", "array", "map", "record", "choice", "reference",
        ]

    public static func decode(
        _ bytes: Span<UInt8>, _ cursor: inout WireCursor
    ) throws(WireError) -> WireSchema {
        let choice = try cursor.openChoice(in: bytes)
        let name = bytes.text(choice.name)
        if let schema = plain[name] {
            try cursor.emptyPayload(of: choice, in: bytes)
            try cursor.close(choice, in: bytes)
            return schema
        }
        guard known.contains(name) else {
            throw cursor.unknownCase(choice, known: known, in: bytes)
        }
        try cursor.expectPayload(of: choice)
        let schema: WireSchema
        do throws(WireError) {
            schema = try payload(of: name, bytes, &cursor)
        } catch {
            throw error.inside(name)
        }
        try cursor.close(choice, in: bytes)
        return schema
    }

    private static func payload(
        of name: String, _ bytes: Span<UInt8>, _ cursor: inout WireCursor
    ) throws(WireError) -> WireSchema {
        switch name {
        case "integer": try bounds(bytes, &cursor)
        case "optional": .optional(try decode(bytes, &cursor))
        case "array": .array(try decode(bytes, &cursor))
        case "map": .map(try decode(bytes, &cursor))
        case "record": .record(try Record.decode(bytes, &cursor))
        case "choice": .choice(try Choice.decode(bytes, &cursor))
        default: .reference(try String.decode(bytes, &cursor))
        }
    }

    private static func bounds(
        _ bytes: Span<UInt8>, _ cursor: inout WireCursor
    ) throws(WireError) -> WireSchema {
        let start = cursor.offset
        var min: Int64?
        var max: UInt64?
        var map = try cursor.openMap(in: bytes)
        while let name = try cursor.nextName(in: bytes, &map) {
            switch bytes.text(name) {
            case "min": try cursor.field(name, into: &min, in: bytes)
            case "max": try cursor.field(name, into: &max, in: bytes)
            default: try cursor.skipStranger(name, in: bytes, &map)
            }
        }
        return .integer(
            min: try cursor.required(min, "min", at: start),
            max: try cursor.required(max, "max", at: start))
    }

    /// *Shape*: any value, since a schema of schemas would have to contain itself.
    public static var wireSchema: WireSchema { .any }
}

// MARK: - Records and their fields
extension WireSchema.Record: WireCodable {
    public func encode(into writer: inout WireWriter) {
        writer.map(count: 3)
        writer.text("doc")
        writer.text(doc)
        writer.text("name")
        writer.text(name)
        writer.text("fields")
        fields.encode(into: &writer)
    }

    public static func decode(
        _ bytes: Span<UInt8>, _ cursor: inout WireCursor
    ) throws(WireError) -> WireSchema.Record {
        let start = cursor.offset
        var name: String?
        var doc: String?
        var fields: [WireSchema.Field]?
        var map = try cursor.openMap(in: bytes)
        while let key = try cursor.nextName(in: bytes, &map) {
            switch bytes.text(key) {
            case "doc": try cursor.field(key, into: &doc, in: bytes)
            case "name": try cursor.field(key, into: &name, in: bytes)
            case "fields": try cursor.field(key, into: &fields, in: bytes)
            default: try cursor.skipStranger(key, in: bytes, &map)
            }
        }
        return WireSchema.Record(
            name: try cursor.required(name, "name", at: start), doc: doc ?? "",
            fields: try cursor.required(fields, "fields", at: start))
    }

    public static var wireSchema: WireSchema { .any }
}

extension WireSchema.Field: WireCodable {
    public func encode(into writer: inout WireWriter) {
        writer.map(count: 5)
        writer.text("doc")
        writer.text(doc)
        writer.text("name")
        writer.text(name)
        writer.text("schema")
        schema.encode(into: &writer)
        writer.text("aliases")
        aliases.encode(into: &writer)
        writer.text("isOptional")
        writer.bool(isOptional)
    }

    public static func decode(
        _ bytes: Span<UInt8>, _ cursor: inout WireCursor
    ) throws(WireError) -> WireSchema.Field {
        let start = cursor.offset
        var name: String?
        var doc: String?
        var schema: WireSchema?
        var aliases: [String]?
        var isOptional: Bool?
        var map = try cursor.openMap(in: bytes)
        while let key = try cursor.nextName(in: bytes, &map) {
            switch bytes.text(key) {
            case "doc": try cursor.field(key, into: &doc, in: bytes)
            case "name": try cursor.field(key, into: &name, in: bytes)
            case "schema": try cursor.field(key, into: &schema, in: bytes)
            case "aliases": try cursor.field(key, into: &aliases, in: bytes)
            case "isOptional": try cursor.field(key, into: &isOptional, in: bytes)
            default: try cursor.skipStranger(key, in: bytes, &map)
            }
        }
        return WireSchema.Field(
            name: try cursor.required(name, "name", at: start),
            schema: try cursor.required(schema, "schema", at: start),
            isOptional: isOptional ?? false, doc: doc ?? "", aliases: aliases ?? [])
    }

    public static var wireSchema: WireSchema { .any }
}

// MARK: - Choices, their cases and payloads
extension WireSchema.Choice: WireCodable {
    public func encode(into writer: inout WireWriter) {
        writer.map(count: 3)
        writer.text("doc")
        writer.text(doc)
        writer.text("name")
        writer.text(name)
        writer.text("cases")
        cases.encode(into: &writer)
    }

    public static func decode(
        _ bytes: Span<UInt8>, _ cursor: inout WireCursor
    ) throws(WireError) -> WireSchema.Choice {
        let start = cursor.offset
        var name: String?
        var doc: String?
        var cases: [WireSchema.Case]?
        var map = try cursor.openMap(in: bytes)
        while let key = try cursor.nextName(in: bytes, &map) {
            switch bytes.text(key) {
            case "doc": try cursor.field(key, into: &doc, in: bytes)
            case "name": try cursor.field(key, into: &name, in: bytes)
            case "cases": try cursor.field(key, into: &cases, in: bytes)
            default: try cursor.skipStranger(key, in: bytes, &map)
            }
        }
        return WireSchema.Choice(
            name: try cursor.required(name, "name", at: start), doc: doc ?? "",
            cases: try cursor.required(cases, "cases", at: start))
    }

    public static var wireSchema: WireSchema { .any }
}

extension WireSchema.Case: WireCodable {
    public func encode(into writer: inout WireWriter) {
        writer.map(count: 4)
        writer.text("doc")
        writer.text(doc)
        writer.text("name")
        writer.text(name)
        writer.text("aliases")
        aliases.encode(into: &writer)
        writer.text("payload")
        payload.encode(into: &writer)
    }

    public static func decode(
        _ bytes: Span<UInt8>, _ cursor: inout WireCursor
    ) throws(WireError) -> WireSchema.Case {
        let start = cursor.offset
        var name: String?
        var doc: String?
        var aliases: [String]?
        var payload: WireSchema.Payload?
        var map = try cursor.openMap(in: bytes)
        while let key = try cursor.nextName(in: bytes, &map) {
            switch bytes.text(key) {
            case "doc": try cursor.field(key, into: &doc, in: bytes)
            case "name": try cursor.field(key, into: &name, in: bytes)
            case "aliases": try cursor.field(key, into: &aliases, in: bytes)
            case "payload": try cursor.field(key, into: &payload, in: bytes)
            default: try cursor.skipStranger(key, in: bytes, &map)
            }
        }
        return WireSchema.Case(
            name: try cursor.required(name, "name", at: start),
            payload: try cursor.required(payload, "payload", at: start), doc: doc ?? "",
            aliases: aliases ?? [])
    }

    public static var wireSchema: WireSchema { .any }
}

extension WireSchema.Payload: WireCodable {
    public func encode(into writer: inout WireWriter) {
        writer.map(count: 1)
        switch self {
        case .none:
            writer.text("none")
            writer.map(count: 0)
        case .single(let schema):
            writer.text("single")
            schema.encode(into: &writer)
        case .tuple(let schemas):
            writer.text("tuple")
            schemas.encode(into: &writer)
        case .record(let fields):
            writer.text("record")
            fields.encode(into: &writer)
        }
    }

    public static func decode(
        _ bytes: Span<UInt8>, _ cursor: inout WireCursor
    ) throws(WireError) -> WireSchema.Payload {
        let choice = try cursor.openChoice(in: bytes)
        let payload: WireSchema.Payload
        do throws(WireError) {
            switch bytes.text(choice.name) {
            case "none":
                try cursor.emptyPayload(of: choice, in: bytes)
                payload = .none
            case "single":
                try cursor.expectPayload(of: choice)
                payload = .single(try WireSchema.decode(bytes, &cursor))
            case "tuple":
                try cursor.expectPayload(of: choice)
                payload = .tuple(try [WireSchema].decode(bytes, &cursor))
            case "record":
                try cursor.expectPayload(of: choice)
                payload = .record(try [WireSchema.Field].decode(bytes, &cursor))
            default:
                let known = ["none", "single", "tuple", "record"]
                throw cursor.unknownCase(choice, known: known, in: bytes)
            }
        } catch {
            throw bytes.error(error, inside: choice)
        }
        try cursor.close(choice, in: bytes)
        return payload
    }

    public static var wireSchema: WireSchema { .any }
}
