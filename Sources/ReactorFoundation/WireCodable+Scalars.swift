public import ReactorCore
public import ReactorWire

#if canImport(FoundationEssentials)
    public import FoundationEssentials
#else
    public import Foundation
#endif

// UUIDs, and data.

/// A UUID is text in lower case: `e621e1f8-c36c-495a-93fc-0c247a3e6e5f`.
///
/// *Throws*: the decoder also accepts upper case, which `uuidString` has. It refuses all other
/// text.
extension UUID: WireCodable {
    public func encode(into writer: inout WireWriter) { writer.text(wireKeyText) }

    public static func decode(
        _ bytes: Span<UInt8>, _ cursor: inout WireCursor
    ) throws(WireError) -> UUID {
        let start = cursor.offset
        let text = try cursor.text(in: bytes)
        guard let uuid = UUID(uuidString: text) else {
            throw WireError(.refused("\(text.quoted(bytesMax: 64)) is no UUID"), at: start)
        }
        return uuid
    }

    public static var wireSchema: WireSchema {
        .named(WireSchema.Named(name: "UUID", doc: "text", schema: .text))
    }
}

/// As a key, a UUID has one text only: the one in lower case.
extension UUID: KeyedKey {
    @inlinable public static var equalsByText: Bool { true }

    public init?(wireKeyText text: String) {
        guard let uuid = UUID(uuidString: text), uuid.wireKeyText == text else { return nil }
        self = uuid
    }

    public var wireKeyText: String { uuidString.lowercased() }
    public static var wireKeyKind: String { "a UUID in lower case" }
}

/// Data is a byte string, as `[UInt8]` is: `{"$bytes":"AAEC"}` in JSON.
///
/// *Throws*: the decoder also accepts an array of integers from 0 to 255.
extension Data: WireCodable {
    public func encode(into writer: inout WireWriter) { writer.byteString(span) }

    public static func decode(
        _ bytes: Span<UInt8>, _ cursor: inout WireCursor
    ) throws(WireError) -> Data {
        Data(try [UInt8].decode(bytes, &cursor))
    }

    public func encode(at path: ArraySlice<WireKey>, into writer: inout WireWriter) -> WireReach {
        [UInt8](self).encode(at: path, into: &writer)
    }

    public static var wireSchema: WireSchema { .bytes }
}
