public import ReactorWire

#if canImport(FoundationEssentials)
    public import FoundationEssentials
#else
    public import Foundation
#endif

/// A decimal is text with all its digits, since a float cannot hold most of them: `"-12.5"`.
///
/// *Throws*: the decoder also accepts an integer of 64 bits. It refuses text that is not digits
/// with at most one point and a sign, a number with more digits than a `Decimal` holds, and a
/// float. The encoder writes a `Decimal` that is no number as `"NaN"`, which is read from storage
/// only.
extension Decimal: WireCodable {
    /// Maximum length of the text in bytes; the decoder refuses a longer one.
    private static let textMax = 256

    public func encode(into writer: inout WireWriter) { writer.text(description) }

    public static func decode(
        _ bytes: Span<UInt8>, _ cursor: inout WireCursor
    ) throws(WireError) -> Decimal {
        let start = cursor.offset
        let text: String
        switch try cursor.peek(in: bytes).major {
        case 0: text = try UInt64.decode(bytes, &cursor).description
        case 1: text = try Int64.decode(bytes, &cursor).description
        default: text = try cursor.text(in: bytes)
        }
        if cursor.isKept, text == "NaN" { return .nan }
        guard let digits = DecimalDigits(text), text.utf8.count <= textMax,
            let decimal = Decimal(string: text)
        else {
            throw WireError(
                .refused("\(text.quoted(bytesMax: 64)) is no decimal, such as \"-12.5\""),
                at: start)
        }
        guard DecimalDigits(decimal.description) == digits else {
            throw WireError(
                .outOfRange(expected: "a decimal of at most 38 digits between 10^-128 and 10^165"),
                at: start)
        }
        return decimal
    }

    public static var wireSchema: WireSchema {
        .named(
            WireSchema.Named(name: "Decimal", doc: "text with digits: \"-12.5\"", schema: .any))
    }
}

/// The digits of a decimal text, without zeros that do not affect its value.
private struct DecimalDigits: Equatable {
    var isNegative: Bool
    var whole: Substring
    var fraction: Substring

    /// Reads a sign, digits, and perhaps a point and digits; `nil` for other text.
    init?(_ text: String) {
        isNegative = text.hasPrefix("-")
        let parts = text.dropFirst(isNegative ? 1 : 0)
            .split(separator: ".", maxSplits: 1, omittingEmptySubsequences: false)
        let isDigits = parts.allSatisfy { part in
            !part.isEmpty && part.utf8.allSatisfy { (0x30...0x39).contains($0) }
        }
        guard isDigits, let first = parts.first else { return nil }
        whole = first.drop { $0 == "0" }
        fraction = parts.count > 1 ? parts[1] : ""
        while fraction.last == "0" { fraction.removeLast() }
        if whole.isEmpty, fraction.isEmpty { isNegative = false }
    }
}
