/// The path of a slice: names of nodes from the root, then of fields and keys inside a state.
///
/// Written `/inventory/items/42/qty`; `/` alone is the root. `/` and `%` inside a component are
/// percent-encoded, so a path can contain any key of a map.
public struct SlicePath: Hashable, Sendable {
    /// The names, from the root on; empty for the root itself.
    public var components: [WireKey]

    /// The root.
    public static let root = SlicePath([])

    /// The path of these names.
    public init(_ components: [WireKey]) { self.components = components }

    /// Reads a path.
    ///
    /// *Throws*: ``SlicePathError`` that names the component and the remedy.
    public init(_ text: String) throws(SlicePathError) {
        guard text.utf8.count <= WireLimits.pathBytesMax else {
            throw SlicePathError(.tooLong, in: "")
        }
        guard text.utf8.first == UInt8(ascii: "/") else {
            throw SlicePathError(.relative, in: text)
        }
        components = []
        if text.utf8.count == 1 { return }
        for part in text.utf8.dropFirst().split(
            separator: UInt8(ascii: "/"), omittingEmptySubsequences: false)
        {
            components.append(try Self.component(Array(part), of: text))
        }
        guard components.count <= WireLimits.pathComponentsMax else {
            throw SlicePathError(.tooLong, in: "")
        }
    }

    private static func component(
        _ encoded: [UInt8], of text: String
    ) throws(SlicePathError) -> WireKey {
        var bytes: [UInt8] = []
        var index = 0
        while index < encoded.count {
            guard encoded[index] == UInt8(ascii: "%") else {
                bytes.append(encoded[index])
                index += 1
                continue
            }
            guard index + 2 < encoded.count, let high = hexDigit(encoded[index + 1]),
                let low = hexDigit(encoded[index + 2])
            else { throw SlicePathError(.badPercent, in: text) }
            bytes.append(high << 4 | low)
            index += 3
        }
        guard !bytes.isEmpty else { throw SlicePathError(.emptyComponent, in: text) }
        guard !bytes.contains(0), bytes != [0x2e], bytes != [0x2e, 0x2e] else {
            throw SlicePathError(.forbiddenComponent, in: text)
        }
        guard let decoded = String(validating: bytes, as: UTF8.self) else {
            throw SlicePathError(.notText, in: text)
        }
        return WireKey(decoded)
    }

    private static func hexDigit(_ byte: UInt8) -> UInt8? {
        switch byte {
        case UInt8(ascii: "0")...UInt8(ascii: "9"): byte - UInt8(ascii: "0")
        case UInt8(ascii: "a")...UInt8(ascii: "f"): byte - UInt8(ascii: "a") + 10
        case UInt8(ascii: "A")...UInt8(ascii: "F"): byte - UInt8(ascii: "A") + 10
        default: nil
        }
    }

    /// The path one level down.
    public func appending(_ key: WireKey) -> SlicePath { SlicePath(components + [key]) }

    // Disfavored, so that a literal stays a `WireKey`.
    /// The path of the child or entry under a key of another type, such as an integer.
    @_disfavoredOverload
    public func appending(_ key: some WireMapKey) -> SlicePath {
        appending(WireKey(key.wireKeyText))
    }
}

extension SlicePath: CustomStringConvertible {
    public var description: String {
        guard !components.isEmpty else { return "/" }
        return components.map { "/" + Self.encoded($0.text) }.joined()
    }

    private static func encoded(_ text: String) -> String {
        guard text.utf8.contains(where: { $0 == 0x2f || $0 == 0x25 }) else { return text }
        return text.unicodeScalars.reduce(into: "") { result, scalar in
            switch scalar {
            case "/": result += "%2F"
            case "%": result += "%25"
            default: result.unicodeScalars.append(scalar)
            }
        }
    }
}

/// The reason why a text is not a slice path.
public struct SlicePathError: Error, Equatable, Sendable, CustomStringConvertible {
    /// The possible faults of a path's text.
    public enum Condition: Equatable, Sendable {
        case relative, emptyComponent, forbiddenComponent, badPercent, notText, tooLong
    }

    /// The fault.
    public var condition: Condition
    /// The faulty component or path.
    public var text: String

    init(_ condition: Condition, in text: String) {
        self.condition = condition
        self.text = text
    }

    public var description: String {
        let reason =
            switch condition {
            case .relative: "a path starts with /"
            case .emptyComponent: "a component is empty, write one slash between components"
            case .forbiddenComponent: "a component is ., .. or holds a zero byte"
            case .badPercent: "% is followed by two hexadecimal digits, write %25 for the sign"
            case .notText: "a component is not UTF-8"
            case .tooLong:
                "longer than \(WireLimits.pathBytesMax) bytes or "
                    + "\(WireLimits.pathComponentsMax) components"
            }
        return "path \(text): \(reason)"
    }
}

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
