public import ReactorWire

#if canImport(FoundationEssentials)
    public import FoundationEssentials
#else
    public import Foundation
#endif

/// A URL is text; a URL with a base is the array `[relative, base]` of a text and a URL.
///
/// The text is percent-encoded, as `absoluteString` is.
///
/// *Throws*: the decoder percent-encodes other characters, as `URL(string:)` does. It refuses text
/// of which `URL(string:)` makes no URL, and more than 8 bases.
extension URL: WireCodable {
    /// Maximum number of bases of a URL, each the base of the one before; the decoder refuses more.
    private static let basesMax = 8

    public func encode(into writer: inout WireWriter) {
        guard let baseURL else { return writer.text(relativeString) }
        writer.array(count: 2)
        writer.text(relativeString)
        baseURL.encode(into: &writer)
    }

    public static func decode(
        _ bytes: Span<UInt8>, _ cursor: inout WireCursor
    ) throws(WireError) -> URL {
        try decode(bytes, &cursor, basesMax: basesMax)
    }

    private static func decode(
        _ bytes: Span<UInt8>, _ cursor: inout WireCursor, basesMax: Int
    ) throws(WireError) -> URL {
        let start = cursor.offset
        guard try cursor.peek(in: bytes).major == 4 else {
            return try url(try cursor.text(in: bytes), relativeTo: nil, at: start)
        }
        guard basesMax > 0 else { throw WireError(.tooDeep, at: start) }
        var items = try cursor.openArray(in: bytes)
        let relative = try cursor.element(String.self, 0, of: 2, in: bytes, &items)
        guard try cursor.nextElement(in: bytes, &items) else {
            throw WireError(.refused("a URL is text, or [relative, base]"), at: start)
        }
        let base = try decode(bytes, &cursor, basesMax: basesMax - 1)
        try cursor.closeElements(of: 2, in: bytes, &items)
        return try url(relative, relativeTo: base, at: start)
    }

    private static func url(
        _ text: String, relativeTo base: URL?, at start: Int
    ) throws(WireError) -> URL {
        // `URL(string:)` refuses the empty text, of which components make a URL.
        let made =
            text.isEmpty
            ? URLComponents().url(relativeTo: base) : URL(string: text, relativeTo: base)
        guard let made else {
            throw WireError(.refused("\(text.quoted(bytesMax: 64)) is no URL"), at: start)
        }
        return made
    }

    public static var wireSchema: WireSchema {
        .named(WireSchema.Named(name: "URL", doc: "text, or [relative, base]", schema: .any))
    }
}
