public import ReactorWire

#if canImport(FoundationEssentials)
    public import FoundationEssentials
#else
    public import Foundation
#endif

/// A date is a number of seconds since 1970 in UTC: an integer if it is whole, else the array
/// `[seconds, fraction]`, whose sum is the date. Both forms are exact.
///
/// A `Date` counts from 2001 in a `Double`, so a single float since 1970 would lose its last
/// bits.
/// The fraction is below 1 and has the sign of the date's distance from 2001.
///
/// *Throws*: the decoder also accepts a float, the nearest date to it. It refuses a date that is
/// not finite or more than 2^62 seconds away, which the encoder writes as a float; a stored one is
/// read as it was written.
extension Date: WireCodable {
    /// The first second of 2001, in seconds since 1970.
    private static let reference: Int64 = 978_307_200
    /// Maximum distance from 2001 in seconds; the decoder refuses a date beyond it.
    private static let distanceMax = 0x1p62

    public func encode(into writer: inout WireWriter) {
        let distance = timeIntervalSinceReferenceDate
        guard distance.magnitude <= Self.distanceMax else {
            return writer.double(timeIntervalSince1970)
        }
        let whole = distance.rounded(.towardZero)
        let seconds = Int64(whole) + Self.reference
        if whole == distance {
            writer.integer(seconds)
        } else {
            writer.array(count: 2)
            writer.integer(seconds)
            writer.double(distance - whole)
        }
    }

    public static func decode(
        _ bytes: Span<UInt8>, _ cursor: inout WireCursor
    ) throws(WireError) -> Date {
        let start = cursor.offset
        switch try cursor.peek(in: bytes).major {
        case 4: return try parts(bytes, &cursor)
        case 7:
            let date = Date(timeIntervalSince1970: try cursor.double(in: bytes))
            let isDate = date.timeIntervalSinceReferenceDate.magnitude <= distanceMax
            guard isDate || cursor.isKept else { throw rangeError(at: start) }
            return date
        default:
            return try date(try Int64.decode(bytes, &cursor), at: start)
        }
    }

    private static func parts(
        _ bytes: Span<UInt8>, _ cursor: inout WireCursor
    ) throws(WireError) -> Date {
        let start = cursor.offset
        var items = try cursor.openArray(in: bytes)
        let seconds = try cursor.element(Int64.self, 0, of: 2, in: bytes, &items)
        let fraction = try cursor.element(Double.self, 1, of: 2, in: bytes, &items)
        try cursor.closeElements(of: 2, in: bytes, &items)
        guard fraction.magnitude < 1 else {
            throw WireError(
                .outOfRange(expected: "[seconds, fraction] with a fraction between -1 and 1"),
                at: start)
        }
        return try date(seconds, at: start) + fraction
    }

    private static func date(_ seconds: Int64, at start: Int) throws(WireError) -> Date {
        let (distance, isBeyond) = seconds.subtractingReportingOverflow(reference)
        guard !isBeyond, Double(distance).magnitude <= distanceMax else {
            throw rangeError(at: start)
        }
        return Date(timeIntervalSinceReferenceDate: Double(distance))
    }

    private static func rangeError(at start: Int) -> WireError {
        WireError(.outOfRange(expected: "a date within 2^62 seconds of 2001"), at: start)
    }

    public static var wireSchema: WireSchema {
        .named(
            WireSchema.Named(
                name: "Date", doc: "seconds since 1970: an integer, or [seconds, fraction]",
                schema: .any))
    }
}
