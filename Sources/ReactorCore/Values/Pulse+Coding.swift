/// Shape of a counted value on the wire.
@WireCodable
private struct CountedForm<Value: WireCodable> {
    var count: UInt64
    var value: Value
}

extension Pulse: WireCodable where Value: WireCodable {
    public func encode(into writer: inout WireWriter) {
        CountedForm(count: count, value: value).encode(into: &writer)
    }

    public static func decode(
        _ bytes: Span<UInt8>, _ cursor: inout WireCursor
    ) throws(WireError) -> Pulse {
        let form = try CountedForm<Value>.decode(bytes, &cursor)
        return Pulse(value: form.value, count: form.count)
    }

    public func encode(at path: ArraySlice<WireKey>, into writer: inout WireWriter) -> WireReach {
        CountedForm(count: count, value: value).encode(at: path, into: &writer)
    }

    public static var wireSchema: WireSchema { CountedForm<Value>.wireSchema }
}

extension Stamped: WireCodable where Value: WireCodable {
    public func encode(into writer: inout WireWriter) {
        CountedForm(count: count, value: value).encode(into: &writer)
    }

    public static func decode(
        _ bytes: Span<UInt8>, _ cursor: inout WireCursor
    ) throws(WireError) -> Stamped {
        let form = try CountedForm<Value>.decode(bytes, &cursor)
        return Stamped(value: form.value, count: form.count)
    }

    public func encode(at path: ArraySlice<WireKey>, into writer: inout WireWriter) -> WireReach {
        CountedForm(count: count, value: value).encode(at: path, into: &writer)
    }

    public static var wireSchema: WireSchema { CountedForm<Value>.wireSchema }
}
