/// Shape of a counted value on the wire.
@WireCodable
private struct CountedForm<Value: WireCodable> {
    var count: UInt64
    var value: Value
}

// The coding of ``Pulse`` and ``Stamped``; only the decoders differ.
extension Counted where Self: WireCodable, Value: WireCodable {
    private var form: CountedForm<Value> { CountedForm(count: count, value: value) }

    public func encode(into writer: inout WireWriter) { form.encode(into: &writer) }

    public func encode(at path: ArraySlice<WireKey>, into writer: inout WireWriter) -> WireReach {
        form.encode(at: path, into: &writer)
    }

    public static var wireSchema: WireSchema { CountedForm<Value>.wireSchema }
}

extension Pulse: WireCodable where Value: WireCodable {
    public static func decode(
        _ bytes: Span<UInt8>, _ cursor: inout WireCursor
    ) throws(WireError) -> Pulse {
        let form = try CountedForm<Value>.decode(bytes, &cursor)
        return Pulse(value: form.value, count: form.count)
    }
}

extension Stamped: WireCodable where Value: WireCodable {
    public static func decode(
        _ bytes: Span<UInt8>, _ cursor: inout WireCursor
    ) throws(WireError) -> Stamped {
        let form = try CountedForm<Value>.decode(bytes, &cursor)
        return Stamped(value: form.value, count: form.count)
    }
}
