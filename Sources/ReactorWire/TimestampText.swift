/// A point in time as text, for output and logs.
package enum TimestampText {
    /// The time `milliseconds` after 1970, as ISO 8601 in UTC with milliseconds:
    /// `2026-11-23T00:41:23.042Z`.
    package static func format(milliseconds: Int64) -> String {
        let (seconds, fraction) = floor(milliseconds, 1_000)
        let (days, second) = floor(seconds, 86_400)
        let (year, month, day) = date(days: days)
        let time = "\(pad(second / 3_600)):\(pad(second / 60 % 60)):\(pad(second % 60))"
        return "\(pad(year, 4))-\(pad(month))-\(pad(day))T\(time).\(pad(fraction, 3))Z"
    }

    /// The date `days` days after 1970-01-01, in the Gregorian calendar.
    private static func date(days: Int64) -> (year: Int64, month: Int64, day: Int64) {
        // Years are counted from March, so that a leap day is the last day of its year: from
        // 0000-03-01 on, 719,468 days before 1970, eras of 400 years have 146,097 days each.
        let (era, ofEra) = floor(days + 719_468, 146_097)
        let leapDays = ofEra / 1_460 + ofEra / 146_096 - ofEra / 36_524
        let yearOfEra = (ofEra - leapDays) / 365
        let ofYear = ofEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
        let monthFromMarch = (5 * ofYear + 2) / 153
        let day = ofYear - (153 * monthFromMarch + 2) / 5 + 1
        let month = monthFromMarch < 10 ? monthFromMarch + 3 : monthFromMarch - 9
        return (era * 400 + yearOfEra + (month <= 2 ? 1 : 0), month, day)
    }

    /// Quotient and remainder; the remainder is never negative, also for times before 1970.
    private static func floor(_ number: Int64, _ divisor: Int64) -> (Int64, Int64) {
        let (quotient, remainder) = number.quotientAndRemainder(dividingBy: divisor)
        return remainder < 0 ? (quotient - 1, remainder + divisor) : (quotient, remainder)
    }

    private static func pad(_ number: Int64, _ count: Int = 2) -> String {
        let digits = "\(number.magnitude)"
        let zeros = String(repeating: "0", count: max(0, count - digits.utf8.count))
        return (number < 0 ? "-" : "") + zeros + digits
    }
}
