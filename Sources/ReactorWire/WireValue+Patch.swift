extension WireValue {
    /// Applies a patch, as ``PatchWriter`` writes it; says whether that made a difference.
    ///
    /// *Throws*: where the bytes are no patch, or the value has no map at a path. The value may then
    /// be changed in part. *Cost*: that of what changed, and some hundred pairs of each map where
    /// somebody else holds the value.
    public mutating func apply(patch bytes: Span<UInt8>) throws(WireError) -> Bool {
        var cursor = WireCursor()
        var isDifferent = false
        while cursor.offset < bytes.count {
            let start = cursor.offset
            let (path, value) = try Self.change(bytes, &cursor)
            guard let isNews = set(value, at: path[...]) else {
                let text = SlicePath(path).description
                throw WireError(.mismatch(expected: "a map at \(text)", got: "none"), at: start)
            }
            isDifferent = isDifferent || isNews
        }
        return isDifferent
    }

    private static func change(
        _ bytes: Span<UInt8>, _ cursor: inout WireCursor
    ) throws(WireError) -> (path: [WireKey], value: WireValue?) {
        let start = cursor.offset
        var parts = try cursor.openArray(in: bytes)
        guard try cursor.nextElement(in: bytes, &parts) else {
            throw WireError(.mismatch(expected: "a path", got: "nothing"), at: start)
        }
        let path = try [WireKey].decode(bytes, &cursor)
        guard try cursor.nextElement(in: bytes, &parts) else { return (path, nil) }
        let value = try WireValue.decode(bytes, &cursor)
        guard try !cursor.nextElement(in: bytes, &parts) else {
            throw WireError(.mismatch(expected: "a path and a value", got: "more"), at: start)
        }
        return (path, value)
    }

    /// Puts `value` at `path`, or takes away what is there; says whether that made a difference,
    /// and nothing if there is no such place.
    private mutating func set(_ value: WireValue?, at path: ArraySlice<WireKey>) -> Bool? {
        guard let key = path.first, case .map(var map) = self else { return nil }
        // because two holders of the map would have it copied
        self = .null
        defer { self = .map(map) }
        let rest = path.dropFirst()
        guard rest.isEmpty else {
            return map.change(key) { inner in inner.set(value, at: rest) } ?? nil
        }
        guard map[key] != value else { return false }
        map[key] = value
        return true
    }
}
