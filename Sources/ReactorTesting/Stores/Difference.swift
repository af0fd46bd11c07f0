package import ReactorCore

/// The difference of two values, field by field.
///
///       count: 3
///     - total: 7
///     + total: 8
///       (2 unchanged)
package struct Difference: Equatable, Sendable {
    /// The lines, each beginning with `-` (expected), `+` (got) or a blank; empty for equal
    /// values.
    package private(set) var lines: [String] = []

    /// Compares an expected value with the actual one.
    package init(expected: WireValue, got: WireValue) {
        if expected != got { compare(expected, got, label: "", indent: "") }
    }

    /// Compares encoded values.
    init(expected: [UInt8], got: [UInt8]) {
        guard expected != got else { return }
        if let expected = try? WireValue(wireBytes: expected),
            let got = try? WireValue(wireBytes: got), expected != got
        {
            compare(expected, got, label: "", indent: "")
        } else {
            lines = ["  \(expected.count) and \(got.count) bytes that differ"]
        }
    }

    /// The lines below a heading that explains the signs.
    package var text: String {
        (["(- expected, + got)"] + lines).joined(separator: "\n")
    }

    private mutating func compare(
        _ expected: WireValue, _ got: WireValue, label: String, indent: String
    ) {
        switch (expected, got) {
        case (.map(let expected), .map(let got)):
            lines.append("  \(indent)\(label){")
            compare(expected, got, indent: indent + "  ")
            lines.append("  \(indent)}")
        case (.array(let expected), .array(let got)):
            lines.append("  \(indent)\(label)[")
            compare(expected, got, indent: indent + "  ")
            lines.append("  \(indent)]")
        default:
            add("-", indent + label, expected)
            add("+", indent + label, got)
        }
    }

    private mutating func compare(_ expected: WireMap, _ got: WireMap, indent: String) {
        var unchanged = 0
        for key in Set((expected.pairs + got.pairs).map(\.key)).sorted() {
            let label = "\(key.text): "
            switch (expected[key], got[key]) {
            case (let expected?, let got?) where expected == got: unchanged += 1
            case (let expected?, let got?): compare(expected, got, label: label, indent: indent)
            case (let expected?, nil): add("-", indent + label, expected)
            case (nil, let got?): add("+", indent + label, got)
            case (nil, nil): break
            }
        }
        if unchanged > 0 { lines.append("  \(indent)(\(unchanged) unchanged)") }
    }

    private mutating func compare(_ expected: [WireValue], _ got: [WireValue], indent: String) {
        let shorter = min(expected.count, got.count)
        var start = 0
        while start < shorter, expected[start] == got[start] { start += 1 }
        var end = 0
        while end < shorter - start,
            expected[expected.count - 1 - end] == got[got.count - 1 - end]
        { end += 1 }
        if start > 0 { lines.append("  \(indent)(\(start) unchanged)") }
        for index in start..<max(expected.count, got.count) - end {
            let isExpected = index < expected.count - end
            let isGot = index < got.count - end
            if isExpected, isGot {
                compare(expected[index], got[index], label: "\(index): ", indent: indent)
            } else if isExpected {
                add("-", "\(indent)\(index): ", expected[index])
            } else if isGot {
                add("+", "\(indent)\(index): ", got[index])
            }
        }
        if end > 0 { lines.append("  \(indent)(\(end) unchanged)") }
    }

    private mutating func add(_ sign: String, _ label: String, _ value: WireValue) {
        lines.append("\(sign) \(label)\(value.shortText)")
    }
}

extension WireValue {
    /// The value as JSON, shortened if it is long.
    var shortText: String {
        let text = json()
        guard text.count > Self.shownMax else { return text }
        return text.prefix(Self.shownMax) + "… (\(text.count) characters)"
    }

    /// Maximum number of characters shown of a value.
    private static let shownMax = 240

    /// The JSON of several values encoded one after another.
    static func texts(of bytes: [UInt8]) -> String {
        var cursor = WireCursor()
        var texts: [String] = []
        while cursor.offset < bytes.count,
            let value = try? WireValue.decode(bytes.span, &cursor)
        { texts.append(value.shortText) }
        return texts.joined(separator: ", ")
    }
}
