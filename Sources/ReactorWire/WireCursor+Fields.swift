/// The case that a choice's bytes name, with the cursor at its payload.
public struct WireChoice: Sendable {
    /// The case's name, as the peer wrote it.
    public var name: WireName
    @usableFromInline var form: Form
    /// Levels of nesting that end with it.
    @usableFromInline var levels: Int32

    @usableFromInline
    enum Form: Sendable { case bare, counted, untilBreak }

    @inlinable
    init(name: WireName, form: Form, levels: Int32) {
        self.name = name
        self.form = form
        self.levels = levels
    }
}

// MARK: - Fields of a record
extension WireCursor {
    /// Decodes the value of the key `name` into `value`, which must not have one yet.
    ///
    /// *Throws*: ``WireError/Condition/duplicateKey(_:)``, or the value's error inside `name`.
    @inlinable
    @inline(__always)
    public mutating func field<Value: WireCodable>(
        _ name: WireName, into value: inout Value?, in bytes: Span<UInt8>
    ) throws(WireError) {
        guard case .none = value else {
            throw WireError(.duplicateKey(bytes.text(name)), at: name.start)
        }
        do throws(WireError) {
            value = try Value.decode(bytes, &self)
        } catch {
            throw error.inside(bytes.text(name))
        }
    }

    /// The value of a field without a declared default, once its map, which starts at `start`, is
    /// read to the end.
    ///
    /// *Throws*: ``WireError/Condition/missingField(_:)`` if there is neither a value nor an
    /// absent value of the type.
    @inlinable
    public func required<Value: WireCodable>(
        _ value: Value?, _ name: StaticString, at start: Int
    ) throws(WireError) -> Value {
        if let value { return value }
        if let absent = Value.wireAbsentValue { return absent }
        throw missing(name, at: start)
    }

    @usableFromInline
    func missing(_ name: StaticString, at start: Int) -> WireError {
        WireError(.missingField(name.description), at: start, path: [name.description])
    }
}

// MARK: - Cases of a choice
extension WireCursor {
    /// Reads the name of a case: the only key of a map, or text alone.
    @inlinable
    @inline(__always)
    public mutating func openChoice(in bytes: Span<UInt8>) throws(WireError) -> WireChoice {
        let start = offset
        let head = try head(in: bytes)
        if head.major == 3 {
            offset = start
            return WireChoice(name: try name(in: bytes), form: .bare, levels: 0)
        }
        guard head.major == 5 else {
            throw mismatch("a map with the name of a case", head, at: start)
        }
        let levels = head.levels
        guard depthLeft >= levels else { throw WireError(.tooDeep, at: start) }
        depthLeft &-= levels
        if head.isIndefinite {
            if offset < bytes.count, bytes[offset] == 0xff { throw choiceCount(0, at: start) }
        } else if head.argument != 1 {
            throw choiceCount(head.argument, at: start)
        }
        let name = try name(in: bytes)
        return WireChoice(
            name: name, form: head.isIndefinite ? .untilBreak : .counted, levels: levels)
    }

    /// Leaves a choice, whose payload is read.
    @inlinable
    @inline(__always)
    public mutating func close(
        _ choice: WireChoice, in bytes: Span<UInt8>
    ) throws(WireError) {
        if choice.form == .bare { return }
        if choice.form == .untilBreak {
            guard offset < bytes.count else { throw WireError(.truncated, at: offset) }
            guard bytes[offset] == 0xff else { throw choiceCount(2, at: offset) }
            offset &+= 1
        }
        depthLeft &+= choice.levels
    }

    /// Reads the payload of a case that has none: an empty map, or nothing after a bare name.
    ///
    /// Names in the map are skipped, because a newer peer's case may have labelled values.
    @inlinable
    public mutating func emptyPayload(
        of choice: WireChoice, in bytes: Span<UInt8>
    ) throws(WireError) {
        if choice.form == .bare { return }
        var map = try openMap(in: bytes)
        while let name = try nextName(in: bytes, &map) { try skipStranger(name, in: bytes, &map) }
    }

    /// Refuses a bare name, because its case has a payload.
    @inlinable
    @inline(__always)
    public func expectPayload(of choice: WireChoice) throws(WireError) {
        if choice.form == .bare { throw payloadMissing(choice) }
    }

    /// The error for a name that is none of `known`.
    public func unknownCase(
        _ choice: WireChoice, known: [String], in bytes: Span<UInt8>
    ) -> WireError {
        WireError(.unknownCase(bytes.text(choice.name), known: known), at: choice.name.start)
    }

    @usableFromInline
    func payloadMissing(_ choice: WireChoice) -> WireError {
        WireError(
            .mismatch(expected: "a map from the case's name to its payload", got: "text"),
            at: choice.name.start)
    }

    @usableFromInline
    func choiceCount(_ count: UInt64, at start: Int) -> WireError {
        let got = count == 0 ? "an empty map" : "a map with more than one key"
        return WireError(
            .mismatch(expected: "a map with one key, the name of a case", got: got), at: start)
    }
}

// MARK: - Values without labels
extension WireCursor {
    /// Decodes element `index` of the array that holds a case's `count` unlabelled values.
    @inlinable
    public mutating func element<Value: WireCodable>(
        _ type: Value.Type, _ index: Int, of count: Int, in bytes: Span<UInt8>,
        _ items: inout WireContainer
    ) throws(WireError) -> Value {
        let start = offset
        guard try nextElement(in: bytes, &items) else { throw elementCount(count, at: start) }
        do throws(WireError) {
            return try Value.decode(bytes, &self)
        } catch {
            throw error.inside(String(index))
        }
    }

    /// Leaves the array, which must hold no element beyond `count`.
    @inlinable
    public mutating func closeElements(
        of count: Int, in bytes: Span<UInt8>, _ items: inout WireContainer
    ) throws(WireError) {
        let start = offset
        if try nextElement(in: bytes, &items) { throw elementCount(count, at: start) }
    }

    @usableFromInline
    func elementCount(_ count: Int, at start: Int) -> WireError {
        WireError(.outOfRange(expected: "an array of \(count) elements"), at: start)
    }
}

extension Span where Element == UInt8 {
    /// The error that `choice` fails with when reading its payload failed with `error`; an error
    /// about the name itself stays as it is.
    public func error(_ error: WireError, inside choice: WireChoice) -> WireError {
        error.offset == choice.name.start ? error : error.inside(text(choice.name))
    }
}
