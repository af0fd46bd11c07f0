/// A value that has one deterministic binary form on the wire and on disk.
///
/// Conform with the macro ``WireCodable()``; the standard library's types conform already. Names
/// are on the wire (`{"increment":{"by":5}}`), so fields may be reordered, added with a default,
/// and read by any language's CBOR library.
public protocol WireCodable {
    /// Appends the value's deterministic CBOR form to `writer`.
    func encode(into writer: inout WireWriter)

    /// Reads one value at `cursor` and moves it past the value.
    ///
    /// *Owner*: `bytes` is valid for the call only.
    /// *Throws*: ``WireError`` with the offset of the offending item; `cursor` is then undefined.
    static func decode(
        _ bytes: Span<UInt8>, _ cursor: inout WireCursor
    ) throws(WireError) -> Self

    /// Describes the type to people and tools: cases, fields, types, documentation.
    static var wireSchema: WireSchema { get }

    /// Appends what stands at `path` inside the value, without encoding the rest.
    ///
    /// An empty path is the value itself.
    func encode(at path: ArraySlice<WireKey>, into writer: inout WireWriter) -> WireReach

    /// Appends an array whose elements are of this type; bytes have a form of their own.
    static func encodeArray(_ array: [Self], into writer: inout WireWriter)

    /// Reads an array whose elements are of this type; bytes have a form of their own.
    static func decodeArray(
        _ bytes: Span<UInt8>, _ cursor: inout WireCursor
    ) throws(WireError) -> [Self]

    /// What ``WireSchema`` says of an array of this type.
    static var wireArraySchema: WireSchema { get }

    /// The value that a field of this type takes when it is absent and declares no default of its
    /// own; `nil` if absence is an error. Optionals say `.some(.none)`.
    static var wireAbsentValue: Self? { get }
}

/// How far a path leads into a value.
public enum WireReach: Sendable, Equatable {
    /// The path leads to a value, which was appended.
    case found
    /// The path is possible, but nothing stands there now: an absent key, an index past the end.
    case absent
    /// The type has no such field, and never will.
    case impossible
}

extension WireCodable {
    @inlinable
    public func encode(at path: ArraySlice<WireKey>, into writer: inout WireWriter) -> WireReach {
        guard path.isEmpty else { return .impossible }
        encode(into: &writer)
        return .found
    }

    @inlinable
    public static func encodeArray(_ array: [Self], into writer: inout WireWriter) {
        writer.array(count: array.count)
        for element in array { element.encode(into: &writer) }
    }

    @inlinable
    public static func decodeArray(
        _ bytes: Span<UInt8>, _ cursor: inout WireCursor
    ) throws(WireError) -> [Self] {
        var array: [Self] = []
        var items = try cursor.openArray(in: bytes)
        while try cursor.nextElement(in: bytes, &items) {
            do throws(WireError) {
                array.append(try decode(bytes, &cursor))
            } catch {
                throw error.inside(String(array.count))
            }
        }
        return array
    }

    public static var wireArraySchema: WireSchema { .array(wireSchema) }

    @inlinable public static var wireAbsentValue: Self? { nil }

    /// The value's CBOR form. *Cost*: allocates.
    @inlinable
    public func wireBytes() -> [UInt8] {
        var writer = WireWriter()
        encode(into: &writer)
        return writer.bytes
    }

    /// Reads exactly one value from `bytes`.
    ///
    /// *Throws*: ``WireError``, also if bytes are left over.
    @inlinable
    public init(wireBytes bytes: Span<UInt8>) throws(WireError) {
        var cursor = WireCursor()
        self = try Self.decode(bytes, &cursor)
        if cursor.offset != bytes.count {
            throw WireError(.trailingBytes(bytes.count - cursor.offset), at: cursor.offset)
        }
    }

    /// Reads exactly one value that was kept: see ``WireCursor/init(kept:)``.
    ///
    /// *Throws*: ``WireError``, also if bytes are left over.
    public init(keptBytes bytes: Span<UInt8>) throws(WireError) {
        var cursor = WireCursor(kept: 0)
        self = try Self.decode(bytes, &cursor)
        if cursor.offset != bytes.count {
            throw WireError(.trailingBytes(bytes.count - cursor.offset), at: cursor.offset)
        }
    }

    /// Reads exactly one value from `bytes`.
    @inlinable
    public init(wireBytes bytes: [UInt8]) throws(WireError) {
        try self.init(wireBytes: bytes.span)
    }
}

/// Makes a struct or an enum ``WireCodable`` by its names.
@attached(member, names: arbitrary)
@attached(extension, conformances: WireCodable, names: named(init(_wireValues:)), named(wireSchema))
public macro WireCodable() = #externalMacro(module: "ReactorMacros", type: "WireCodableMacro")

/// Names under which a field or case was known before: they are still read, never written.
///
///     @WireAlias("total") var count: Int
@attached(peer)
public macro WireAlias(_ names: String...) =
    #externalMacro(module: "ReactorMacros", type: "WireAliasMacro")

/// Names of fields that a struct had once and has no more: what was kept under them is given up.
///
///     @WireRemoved("total") struct State { var count = 0 }
///
/// Without it, a history that has such a field is refused, because its value would be lost. A live
/// peer's unknown fields are skipped in any case.
@attached(peer)
public macro WireRemoved(_ names: String...) =
    #externalMacro(module: "ReactorMacros", type: "WireRemovedMacro")

/// A field that stays where it is: it is not coded, and whoever reads the rest gives it the value
/// with which it is declared.
///
///     @NotTransmitted var cache: [Int: String] = [:]
@attached(peer)
public macro NotTransmitted() =
    #externalMacro(module: "ReactorMacros", type: "ReactorStateMarkerMacro")
