/// Sizes in bytes as text: `1MiB`, `64KiB`, `500kB`, or a plain number of bytes.
enum ByteSizeText {
    /// The units with their size in bytes, largest first.
    private static let units: [(name: String, bytes: Int)] = [
        ("GiB", 1 << 30), ("GB", 1_000_000_000), ("MiB", 1 << 20), ("MB", 1_000_000),
        ("KiB", 1 << 10), ("kB", 1_000), ("B", 1), ("", 1),
    ]

    /// The part of an error text that names the expected form.
    static let expectation = "a byte size such as 1MiB, 64KiB, 500kB or a number of bytes"

    /// Returns the number of bytes that `text` states, or nil.
    ///
    /// Units are exact in letter case, because `mb` means a bit to some and a byte to others.
    static func parse(_ text: String) -> Int? {
        let digits = text.utf8.prefix { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }
        guard let number = Int(String(Substring(digits))),
            let unit = units.first(where: { $0.name == text.dropFirst(digits.count) })
        else { return nil }
        let (bytes, overflow) = number.multipliedReportingOverflow(by: unit.bytes)
        return overflow ? nil : bytes
    }

    /// The shortest text that ``parse(_:)`` reads back as this number of bytes.
    static func format(_ bytes: Int) -> String {
        guard bytes > 0 else { return "\(bytes)" }
        for unit in units where unit.bytes > 1 && bytes % unit.bytes == 0 {
            return "\(bytes / unit.bytes)\(unit.name)"
        }
        return "\(bytes)"
    }
}
