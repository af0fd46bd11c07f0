extension SlicePath: WireCodable {
    /// *Shape*: a text, such as `/team/lock`.
    public func encode(into writer: inout WireWriter) { writer.text(description) }

    public static func decode(
        _ bytes: Span<UInt8>, _ cursor: inout WireCursor
    ) throws(WireError) -> SlicePath {
        let start = cursor.offset
        let text = try String.decode(bytes, &cursor)
        do throws(SlicePathError) {
            return try SlicePath(text)
        } catch {
            throw WireError(.refused("\(error)"), at: start)
        }
    }

    public static var wireSchema: WireSchema { String.wireSchema }
}
