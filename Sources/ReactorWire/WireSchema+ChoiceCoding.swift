// The coding of choices, their cases and payloads.

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
