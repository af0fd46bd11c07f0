/// The text forms of floating-point numbers in JSON.
///
/// *Shape*: a finite number is the shortest decimal that reads back as the same double, with a
/// point or an exponent (`5.0`, `1e+16`). Others are text under `$float`: `Infinity`,
/// `-Infinity`, `NaN`; a NaN of any other bits is `NaN:` and its bit pattern, 16 lower-case
/// hexadecimal digits.
enum JSONFloat {
    /// The text under `$float` of a number that is not finite.
    static func text(_ number: Double) -> String {
        guard number.isNaN else { return number < 0 ? "-Infinity" : "Infinity" }
        if number.bitPattern == Double.nan.bitPattern { return "NaN" }
        let digits = String(number.bitPattern, radix: 16)
        return "NaN:" + String(repeating: "0", count: 16 - digits.count) + digits
    }

    /// The number with the form `text` under `$float`.
    static func number(_ text: String) -> Double? {
        switch text {
        case "NaN": return .nan
        case "Infinity": return .infinity
        case "-Infinity": return -.infinity
        default:
            let digits = text.dropFirst(4)
            guard text.hasPrefix("NaN:"), digits.utf8.count == 16,
                digits.utf8.allSatisfy({ isHexDigit($0) }),
                let bits = UInt64(digits, radix: 16)
            else { return nil }
            let number = Double(bitPattern: bits)
            return number.isNaN ? number : nil
        }
    }

    private static func isHexDigit(_ byte: UInt8) -> Bool {
        (byte >= 0x30 && byte <= 0x39) || (byte >= 0x61 && byte <= 0x66)
    }
}
