/// A fault in bytes that a peer sent, with its position.
///
/// Only the session that sent the bytes gets this error; other sessions are not affected.
public struct WireError: Error, Equatable, Sendable {
    /// The fault.
    public var condition: Condition
    /// Byte offset of the offending item in the decoded span.
    public var offset: Int
    /// Names from the outermost value to the offending one, such as `["increment", "by"]`.
    public var path: [String]

    /// Makes an error at a position.
    public init(_ condition: Condition, at offset: Int, path: [String] = []) {
        self.condition = condition
        self.offset = offset
        self.path = path
    }

    /// The same error, with the name of the enclosing value.
    public func inside(_ name: String) -> WireError {
        WireError(condition, at: offset, path: [name] + path)
    }

    /// The possible faults of bytes.
    public enum Condition: Equatable, Sendable {
        /// The bytes end inside a value.
        case truncated
        /// The item's initial byte is reserved by RFC 8949 or not allowed here.
        case malformed(initialByte: UInt8)
        /// A well-formed item of the wrong kind.
        case mismatch(expected: String, got: String)
        /// A number that the type cannot hold, or a fixed-size value of the wrong size.
        case outOfRange(expected: String)
        /// Nesting beyond ``WireLimits/depthMax``, or ``WireLimits/actionDepthMax`` in an action.
        case tooDeep
        /// A collection that claims more elements than its bytes can hold.
        case countExceedsBytes(UInt64)
        /// Text that is not UTF-8.
        case invalidText
        /// The same key twice in one map, compared by bytes.
        case duplicateKey(String)
        /// Two keys with different bytes that Swift's `String` treats as equal.
        case mergedKeys(String)
        /// A field without a default is absent.
        case missingField(String)
        /// A field of a stored value that the type does not know.
        case unknownField(String)
        /// An enum case that this side does not know.
        case unknownCase(String, known: [String])
        /// Bytes after the end of the value.
        case trailingBytes(Int)
        /// A tag whose meaning would change the value (bignums, RFC 8949 section 3.4.3).
        case unsupportedTag(UInt64)
        /// A valid value that the type refuses for a reason of its own.
        case refused(String)
    }
}

extension WireError: CustomStringConvertible {
    public var description: String {
        let place = path.isEmpty ? "value" : path.map(\.printable).joined(separator: ".")
        return "\(place) at byte \(offset): \(condition)"
    }
}

extension WireError.Condition: CustomStringConvertible {
    public var description: String {
        switch self {
        case .truncated: "the bytes end inside a value"
        case .malformed(let byte): "malformed item, initial byte 0x\(String(byte, radix: 16))"
        case .mismatch(let expected, let got): "expected \(expected), got \(got)"
        case .outOfRange(let expected): "out of range, expected \(expected)"
        case .tooDeep:
            "nested too deep: at most \(WireLimits.actionDepthMax) levels in an action, "
                + "\(WireLimits.depthMax) elsewhere"
        case .countExceedsBytes(let count): "claims \(count) elements, more than its bytes can hold"
        case .invalidText: "text is not valid UTF-8"
        case .duplicateKey(let key): "key \(key.quoted()) occurs twice"
        case .mergedKeys(let key): "key \(key.quoted()) equals another key by Unicode equivalence"
        case .missingField(let name): "field \(name.quoted()) is missing"
        case .unknownField(let name): "field \(name.quoted()) is unknown to the type"
        case .unknownCase(let name, let known):
            "unknown case \(name.quoted()), expected one of \(WireSchema.list(known))"
        case .trailingBytes(let count): "\(count) bytes after the end of the value"
        case .unsupportedTag(let tag): "tag \(tag) is not supported"
        case .refused(let reason): reason
        }
    }
}
