// JSON, exact in both directions: `WireValue(json: value.json())` equals `value` for every value
// within the wire's depth limit.

extension WireValue {
    /// Reads a JSON text.
    ///
    /// *Shape*: a number without fraction and exponent is an integer of -2^64 to 2^64 - 1, any
    /// other a double. Values without a JSON form are objects with one key: `{"$bytes":"AAEC"}`
    /// (base64), `{"$float":"NaN"}` (also `Infinity`, `-Infinity`, and `NaN:7ff8000000000001` for a
    /// NaN of other bits). A map with such a key alone is `{"$map":{"$bytes":…}}`.
    ///
    /// *Throws*: ``JSONError`` with line and column; a key that occurs twice, an integer beyond the
    /// range, a lone surrogate and nesting beyond ``WireLimits/depthMax`` are errors.
    public init(json text: String) throws(JSONError) {
        self = try JSONParser.value(of: Array(text.utf8))
    }

    /// Reads a JSON text in UTF-8.
    public init(json bytes: [UInt8]) throws(JSONError) {
        self = try JSONParser.value(of: bytes)
    }

    /// The value as JSON, on one line unless `pretty`.
    ///
    /// Control characters and those that change the direction of text are always escaped, so that a
    /// peer's text cannot act on a terminal; with `ascii`, all characters beyond ASCII are.
    public func json(pretty: Bool = false, ascii: Bool = false) -> String {
        var printer = JSONPrinter(isPretty: pretty, isASCII: ascii)
        printer.print(self)
        return printer.string
    }

    /// An object of `pairs` as JSON in the given order, for lines that people read; a map would put
    /// short keys first.
    ///
    /// *Traps*: never; it does not check that the keys differ.
    package static func json(
        object pairs: KeyValuePairs<String, WireValue>, pretty: Bool = false, ascii: Bool = false
    ) -> String {
        var printer = JSONPrinter(isPretty: pretty, isASCII: ascii)
        printer.list("{", pairs, "}") { printer, pair in
            printer.key(pair.key)
            printer.print(pair.value)
        }
        return printer.string
    }
}

extension WireValue: CustomStringConvertible {
    /// The value as JSON on one line.
    public var description: String { json() }
}

extension String {
    /// The text in quotation marks, safe to print: controls escaped, cut after `bytesMax` bytes.
    ///
    /// Logs and terminals receive a peer's text only in this form.
    @usableFromInline package func quoted(bytesMax: Int = 256) -> String {
        var printer = JSONPrinter(isPretty: false, isASCII: false)
        guard utf8.count > bytesMax else {
            printer.quote(self)
            return printer.string
        }
        var head = ""
        for scalar in unicodeScalars {
            guard head.utf8.count + UTF8.width(scalar) <= bytesMax else { break }
            head.unicodeScalars.append(scalar)
        }
        printer.quote(head)
        return printer.string + "…"
    }

    /// The text with all characters escaped that act on a terminal or break a line: controls,
    /// changes of direction, separators. All others stay unchanged.
    package var terminalSafe: String {
        if utf8.allSatisfy({ $0 >= 0x20 && $0 < 0x7f }) { return self }
        return unicodeScalars.map { scalar in
            scalar.actsOnTerminal
                ? "\\u{\(String(scalar.value, radix: 16))}" : String(Character(scalar))
        }.joined()
    }

    /// A component of a path: unchanged if it is safe to print and readable, else in quotation
    /// marks.
    var printable: String {
        let isPlain = utf8.allSatisfy { $0 > 0x20 && $0 < 0x7f && $0 != 0x2e && $0 != 0x22 }
        return isPlain && !isEmpty && utf8.count <= 64 ? self : quoted(bytesMax: 64)
    }
}
