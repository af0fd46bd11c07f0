/// An array or a map that is being read.
public struct WireContainer: Sendable {
    /// Elements or pairs not read yet; -1 if a break ends them.
    @usableFromInline var left: Int
    /// Levels of nesting that the container uses: its own, and those of its tags.
    @usableFromInline var levels: Int32
    /// Names in a map that its type does not know, to detect duplicates among them.
    @usableFromInline var strangers: [WireStranger] = []

    @usableFromInline
    init(left: Int, levels: Int32) {
        self.left = left
        self.levels = levels
    }

    /// A count that is safe to reserve memory for: no larger than the bytes can hold.
    @inlinable package var countHint: Int { max(left, 0) }
}

/// The position of a name in the decoded bytes, after its head.
public struct WireName: Sendable {
    /// Offset of its first byte.
    public var start: Int
    /// Length in bytes.
    public var count: Int

    @inlinable
    init(start: Int, count: Int) {
        self.start = start
        self.count = count
    }

    /// The range of its bytes.
    @inlinable public var range: Range<Int> { start..<(start &+ count) }
}

// MARK: - Containers
extension WireCursor {
    /// Enters an array.
    @inlinable
    public mutating func openArray(in bytes: Span<UInt8>) throws(WireError) -> WireContainer {
        try open(major: 4, expected: "an array", bytesPerElementMin: 1, in: bytes)
    }

    /// Enters a map.
    @inlinable
    public mutating func openMap(in bytes: Span<UInt8>) throws(WireError) -> WireContainer {
        try open(major: 5, expected: "a map", bytesPerElementMin: 2, in: bytes)
    }

    @inlinable
    mutating func open(
        major: UInt8, expected: StaticString, bytesPerElementMin: Int, in bytes: Span<UInt8>
    ) throws(WireError) -> WireContainer {
        let start = offset
        let head = try head(in: bytes)
        guard head.major == major else { throw mismatch(expected.description, head, at: start) }
        return try enter(head, bytesPerElementMin: bytesPerElementMin, at: start, in: bytes)
    }

    /// Enters the array or map whose `head` was at `start`.
    @inlinable
    mutating func enter(
        _ head: WireHead, bytesPerElementMin: Int, at start: Int, in bytes: Span<UInt8>
    ) throws(WireError) -> WireContainer {
        let levels = head.levels
        guard depthLeft >= levels else { throw WireError(.tooDeep, at: start) }
        depthLeft &-= levels
        if head.isIndefinite { return WireContainer(left: -1, levels: levels) }
        // The peer chooses the count, so it is bounded by the number of bytes.
        guard head.argument <= UInt64((bytes.count &- offset) / bytesPerElementMin) else {
            throw WireError(.countExceedsBytes(head.argument), at: start)
        }
        return WireContainer(left: Int(head.argument), levels: levels)
    }

    /// Whether another element (or pair) follows; leaves the container after the last.
    @inlinable
    public mutating func nextElement(
        in bytes: Span<UInt8>, _ container: inout WireContainer
    ) throws(WireError) -> Bool {
        if container.left > 0 {
            container.left &-= 1
            return true
        }
        if container.left < 0 {
            guard offset < bytes.count else { throw WireError(.truncated, at: offset) }
            if bytes[offset] != 0xff { return true }
            offset &+= 1
        }
        depthLeft &+= container.levels
        return false
    }

    /// Reads the next key of a map, or leaves the map.
    ///
    /// A key is text of definite length. It is only compared, not validated as UTF-8.
    @inlinable
    public mutating func nextName(
        in bytes: Span<UInt8>, _ map: inout WireContainer
    ) throws(WireError) -> WireName? {
        guard try nextElement(in: bytes, &map) else { return nil }
        return try name(in: bytes)
    }

    /// Reads text of definite length without creating a `String`.
    @inlinable
    public mutating func name(in bytes: Span<UInt8>) throws(WireError) -> WireName {
        let start = offset
        let head = try head(in: bytes)
        guard head.major == 3, !head.isIndefinite else {
            throw mismatch("a name", head, at: start)
        }
        let range = try take(head.argument, in: bytes, at: start)
        return WireName(start: range.lowerBound, count: range.count)
    }
}

/// The case of a choice, with the cursor at its payload.
public struct WireChoice: Sendable {
    /// The case's name, as the peer wrote it.
    public var name: WireName
    @usableFromInline var form: Form
    /// Levels of nesting that the choice uses.
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
    /// Decodes the value of the key `name` into `value`, which must still be `nil`.
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

    /// The same as ``field(_:into:in:)``, with the field's type.
    @inlinable
    @inline(__always)
    public mutating func field<Value: WireCodable>(
        _ name: WireName, _ type: Value.Type, into value: inout Value?, in bytes: Span<UInt8>
    ) throws(WireError) {
        try field(name, into: &value, in: bytes)
    }

    /// The value of a field without a declared default, once its map, which starts at `start`, was
    /// read completely.
    ///
    /// *Throws*: ``WireError/Condition/missingField(_:)`` if there is neither a value nor an absent
    /// value of the type.
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

    // MARK: Cases of a choice

    /// Reads the name of a case: the only key of a map, or a text.
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

    /// Leaves a choice after its payload.
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
    /// Skips names in the map, since a newer peer's case may have labelled values.
    @inlinable
    public mutating func emptyPayload(
        of choice: WireChoice, in bytes: Span<UInt8>
    ) throws(WireError) {
        if choice.form == .bare { return }
        var map = try openMap(in: bytes)
        while let name = try nextName(in: bytes, &map) { try skipStranger(name, in: bytes, &map) }
    }

    /// Throws if the choice is a bare name, as its case has a payload.
    @inlinable
    @inline(__always)
    public func expectPayload(of choice: WireChoice) throws(WireError) {
        if choice.form == .bare { throw payloadMissing(choice) }
    }

    /// The error for a name that is not in `known`.
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

    // MARK: Values without labels

    /// Decodes element `index` of the array of a case's `count` unlabelled values.
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

    /// Leaves the array, which must not contain more than `count` elements.
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
    /// The error of `choice` after reading its payload failed with `error`; an error about the
    /// case's name stays unchanged.
    public func error(_ error: WireError, inside choice: WireChoice) -> WireError {
        error.offset == choice.name.start ? error : error.inside(text(choice.name))
    }
}
