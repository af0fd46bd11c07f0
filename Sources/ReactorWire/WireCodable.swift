/// A value that has one deterministic binary form on the wire and on disk.
///
/// Conform with the macro ``WireCodable()``; the standard library's types conform already.
/// Encodings contain names (`{"increment":{"by":5}}`), so fields can be reordered and added with a
/// default, and any language's CBOR library can read them.
public protocol WireCodable:
    `WireCodable: declare the type with @WireCodable`, `WireCodable: import ReactorFoundation`
{
    /// Appends the value's deterministic CBOR form to `writer`.
    func encode(into writer: inout WireWriter)

    /// Reads one value at `cursor` and moves it past the value.
    ///
    /// *Owner*: `bytes` is valid for the call only.
    /// *Throws*: ``WireError`` with the offset of the offending item; `cursor` is then undefined.
    static func decode(
        _ bytes: Span<UInt8>, _ cursor: inout WireCursor
    ) throws(WireError) -> Self

    /// Describes the type for people and tools: cases, fields, types, documentation.
    static var wireSchema: WireSchema { get }

    /// Appends the part of the value at `path`, without encoding the rest.
    ///
    /// An empty path is the value itself.
    func encode(at path: ArraySlice<WireKey>, into writer: inout WireWriter) -> WireReach

    /// Appends an array with elements of this type; bytes have a form of their own.
    static func encodeArray(_ array: [Self], into writer: inout WireWriter)

    /// Reads an array with elements of this type; bytes have a form of their own.
    static func decodeArray(
        _ bytes: Span<UInt8>, _ cursor: inout WireCursor
    ) throws(WireError) -> [Self]

    /// The ``WireSchema`` of an array of this type.
    static var wireArraySchema: WireSchema { get }

    /// The value of an absent field of this type without a declared default; `nil` if absence is an
    /// error. Optionals return `.some(.none)`.
    static var wireAbsentValue: Self? { get }

    /// Whether the value is a case with ``WireInternal()``; the cases in its payload do not count.
    var isWireInternal: Bool { get }

    /// The names of the cases with ``WireInternal()``.
    static var wireInternalCases: [String] { get }

    /// The names of the fields, or of the cases, with ``WireSecret()``.
    static var wireSecrets: [String] { get }

    /// The author's number for the form and meaning of stored values, from 1 on: raise it where
    /// stored values must be converted, and add the step to ``wireMigrations``.
    ///
    /// A struct or an enum has a version, and a type with a raw value has none.
    static var wireVersion: Int { get }

    /// The steps from earlier versions to ``wireVersion``, and earlier names of the type.
    static var wireMigrations: WireMigrations { get }
}

/// The result of following a path into a value.
public enum WireReach: Sendable, Equatable {
    /// The path leads to a value, which was appended.
    case found
    /// The path is possible, but there is no value now: an absent key, an index past the end.
    case absent
    /// The type has no such field, so there will never be a value.
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

    @inlinable public var isWireInternal: Bool { false }

    public static var wireInternalCases: [String] { [] }

    public static var wireSecrets: [String] { [] }

    public static var wireVersion: Int { 1 }

    public static var wireMigrations: WireMigrations { .none }

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

    /// Reads exactly one stored value: see ``WireCursor/init(kept:)``.
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

/// Makes a struct or an enum ``WireCodable``, encoded by its names.
@attached(member, names: arbitrary)
@attached(
    extension,
    conformances: WireCodable, `WireCodable: declare the type with @WireCodable`,
    `WireCodable: import ReactorFoundation`, names: named(init(_wireValues:)), named(wireSchema)
)
public macro WireCodable() = #externalMacro(module: "ReactorMacros", type: "WireCodableMacro")

/// Writes the initializer of a struct's fields, with the access of the struct:
///
///     @WireCodable
///     @MemberwiseInit
///     public struct RunID: Hashable, Sendable {
///         public var project: String
///         public var number = 1
///     }
///     // public init(project: String, number: Int = 1)
///
/// Other modules need it to make a value of a public struct: the initializer that the compiler
/// writes is visible in its module alone. An optional field without a default is `nil` by default.
@attached(member, names: named(init))
public macro MemberwiseInit() =
    #externalMacro(module: "ReactorMacros", type: "MemberwiseInitMacro")

/// Earlier names of a field or case, which are still read but never written.
///
///     @WireAlias("total") var count: Int
@attached(peer)
public macro WireAlias(_ names: String...) =
    #externalMacro(module: "ReactorMacros", type: "WireAliasMacro")

/// Names of removed fields: values stored under them are dropped.
///
///     @WireRemoved("total") struct State { var count = 0 }
///
/// Without it, the decoder refuses a history that contains such a field, since its value would be
/// lost. It always skips unknown fields from a peer.
@attached(peer)
public macro WireRemoved(_ names: String...) =
    #externalMacro(module: "ReactorMacros", type: "WireRemovedMacro")

/// A case of a reactor's actions that only the daemon sends: other reactors, planned actions, sagas
/// and handles.
///
///     enum Action {
///         case start
///         @WireInternal case expire
///     }
///
/// A client that sends it gets `FORBIDDEN`, and the schema that clients read does not have it. The
/// same holds for such a case of an enum in the payload of an action. An enum with a raw value has
/// no such cases.
@attached(peer)
public macro WireInternal() =
    #externalMacro(module: "ReactorMacros", type: "WireInternalMacro")

/// A field, or the values of a case, that `reactorctl log` shows as `(secret)` to callers that may
/// not administer the daemon.
///
///     struct Account {
///         var name: String
///         @WireSecret var password: String
///     }
///     enum Action {
///         case rename(String)
///         @WireSecret case setPassword(String)
///     }
///
/// The mark changes no encoding: clients that may read the state get the value, and the history
/// contains it. Everywhere in an action or a mutation, in the fields and payloads of other types too,
/// the log hides a marked value; what does not fit a type with such a mark is hidden as a whole. An
/// enum with a raw value has no such cases.
@attached(peer)
public macro WireSecret() =
    #externalMacro(module: "ReactorMacros", type: "WireSecretMacro")

/// Excludes a field from the encoding. A decoded value has the field's declared default.
///
///     @NotTransmitted var cache: [Int: String] = [:]
@attached(peer)
public macro NotTransmitted() =
    #externalMacro(module: "ReactorMacros", type: "ReactorStateMarkerMacro")
