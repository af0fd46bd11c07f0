/// Separates the code of a Swift file from its comments.
///
/// *Shape*: both views have the length and the line breaks of the file, so that an offset is
/// valid in both. Bytes that belong to neither are blank.
struct SourceMask {
    /// Code without comments and without the contents of string literals, but with
    /// interpolations.
    private(set) var code: [UInt8]
    /// Comments with their slashes.
    private(set) var comments: [UInt8]

    private let bytes: [UInt8]
    private var index = 0

    /// Separates the code and comments of `text`.
    init(_ text: String) {
        bytes = Array(text.utf8)
        let blank = bytes.map { $0 == Self.newline ? $0 : Self.space }
        code = blank
        comments = blank
        while index < bytes.count { scanCode(untilParenthesis: false) }
    }

    /// Scans code up to the end or to the parenthesis that closes an interpolation.
    private mutating func scanCode(untilParenthesis: Bool) {
        var depth = 0
        while index < bytes.count {
            if starts("//") {
                scanLineComment()
            } else if starts("/*") {
                scanBlockComment()
            } else if let hashes = hashesBeforeQuote() {
                scanString(hashes: hashes)
            } else {
                let byte = bytes[index]
                if byte == UInt8(ascii: "(") { depth += 1 }
                if byte == UInt8(ascii: ")") { depth -= 1 }
                code[index] = byte
                index += 1
                if untilParenthesis, depth == 0 { return }
            }
        }
    }

    private mutating func scanLineComment() {
        while index < bytes.count, bytes[index] != Self.newline {
            comments[index] = bytes[index]
            index += 1
        }
    }

    private mutating func scanBlockComment() {
        var depth = 0
        while index < bytes.count {
            let opens = starts("/*")
            let closes = starts("*/")
            depth += opens ? 1 : closes ? -1 : 0
            for _ in 0..<(opens || closes ? 2 : 1) {
                comments[index] = bytes[index]
                index += 1
            }
            if depth == 0 { return }
        }
    }

    /// Scans a string literal, from its first `#` or quote to its last.
    private mutating func scanString(hashes: Int) {
        index += hashes
        let fence = String(repeating: "#", count: hashes)
        let quote = starts("\"\"\"") ? "\"\"\"" : "\""
        keep(quote.utf8.count)
        while index < bytes.count {
            if starts("\\" + fence + "(") {
                index += 1 + hashes
                scanCode(untilParenthesis: true)
            } else if starts("\\" + fence) {
                index += hashes + 2
            } else if starts(quote + fence) {
                keep(quote.utf8.count)
                index += hashes
                return
            } else if quote == "\"", bytes[index] == Self.newline {
                // Otherwise an unclosed quote would hide the rest of the file.
                return
            } else {
                index += 1
            }
        }
    }

    /// The number of `#` before a quote at this place; nil if no string starts here.
    private func hashesBeforeQuote() -> Int? {
        var end = index
        while end < bytes.count, bytes[end] == UInt8(ascii: "#") { end += 1 }
        guard end < bytes.count, bytes[end] == UInt8(ascii: "\"") else { return nil }
        return end - index
    }

    private mutating func keep(_ count: Int) {
        for _ in 0..<count {
            code[index] = bytes[index]
            index += 1
        }
    }

    private func starts(_ text: String) -> Bool {
        index + text.utf8.count <= bytes.count
            && bytes[index..<(index + text.utf8.count)].elementsEqual(text.utf8)
    }

    private static let newline = UInt8(ascii: "\n")
    private static let space = UInt8(ascii: " ")
}
