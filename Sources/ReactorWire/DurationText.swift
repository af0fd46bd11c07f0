/// The text form of a duration: a whole number and its unit, such as `5s`, `30ms` or `50us`.
public enum DurationText {
    /// The units, longest first, with their length in nanoseconds.
    private static let units: [(name: String, nanoseconds: Int64)] = [
        ("h", 3_600_000_000_000), ("m", 60_000_000_000), ("s", 1_000_000_000),
        ("ms", 1_000_000), ("us", 1_000), ("ns", 1),
    ]

    /// The expected form, for error texts.
    public static let expectation = "a duration such as 5s, 30ms, 50us or 2m"

    /// The duration that `text` states; `nil` if it states none.
    ///
    /// A bare `0` needs no unit; any other number does, since 5 seconds and 5 milliseconds are
    /// easily confused.
    public static func parse(_ text: String) -> Duration? {
        if text == "0" { return .zero }
        let digits = text.utf8.prefix { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }
        guard let number = Int64(String(Substring(digits))),
            let unit = units.first(where: { $0.name == text.dropFirst(digits.count) })
        else { return nil }
        let (nanoseconds, overflow) = number.multipliedReportingOverflow(by: unit.nanoseconds)
        return overflow ? nil : .nanoseconds(nanoseconds)
    }

    /// The shortest text that ``parse(_:)`` reads back as this duration.
    ///
    /// *Shape*: fractions of a nanosecond are cut off; a negative duration gets a sign, which
    /// ``parse(_:)`` refuses.
    public static func format(_ duration: Duration) -> String {
        let (seconds, attoseconds) = duration.components
        let (scaled, overflow) = seconds.multipliedReportingOverflow(by: 1_000_000_000)
        guard !overflow else { return "\(seconds)s" }
        let nanoseconds = scaled + attoseconds / 1_000_000_000
        guard nanoseconds != 0 else { return "0" }
        for unit in units where nanoseconds % unit.nanoseconds == 0 {
            return "\(nanoseconds / unit.nanoseconds)\(unit.name)"
        }
        return "\(nanoseconds)ns"
    }
}
