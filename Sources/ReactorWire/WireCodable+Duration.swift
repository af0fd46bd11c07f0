/// A duration is a number of seconds: an integer if it is whole, else the array `[seconds,
/// attoseconds]`, both with the sign of the duration. Both forms are exact.
///
/// *Throws*: the decoder accepts a float and rounds it to the nearest attosecond that it can
/// represent. It refuses a float that is not finite, or beyond 64-bit seconds.
///
/// *Traps*: encoding a duration of more than 292 billion years, whose seconds exceed 64 bits.
extension Duration: WireCodable {
    public func encode(into writer: inout WireWriter) {
        let (seconds, attoseconds) = components
        if attoseconds == 0 {
            writer.integer(seconds)
        } else {
            writer.array(count: 2)
            writer.integer(seconds)
            writer.integer(attoseconds)
        }
    }

    public static func decode(
        _ bytes: Span<UInt8>, _ cursor: inout WireCursor
    ) throws(WireError) -> Duration {
        let start = cursor.offset
        switch try cursor.peek(in: bytes).major {
        case 4: return try parts(bytes, &cursor)
        case 7: return try fraction(try cursor.double(in: bytes), at: start)
        default:
            let seconds = try Int64.decode(bytes, &cursor)
            return Duration(secondsComponent: seconds, attosecondsComponent: 0)
        }
    }

    private static func parts(
        _ bytes: Span<UInt8>, _ cursor: inout WireCursor
    ) throws(WireError) -> Duration {
        let start = cursor.offset
        var parts: [Int64] = []
        var items = try cursor.openArray(in: bytes)
        while try cursor.nextElement(in: bytes, &items), parts.count < 3 {
            parts.append(try Int64.decode(bytes, &cursor))
        }
        let limit: Int64 = 1_000_000_000_000_000_000
        guard parts.count == 2, parts[1] > -limit, parts[1] < limit,
            parts[0] == 0 || parts[1] == 0 || (parts[0] < 0) == (parts[1] < 0)
        else {
            throw WireError(
                .outOfRange(expected: "[seconds, attoseconds] of one sign, the latter below 10^18"),
                at: start)
        }
        return Duration(secondsComponent: parts[0], attosecondsComponent: parts[1])
    }

    private static func fraction(_ number: Double, at start: Int) throws(WireError) -> Duration {
        // `rounded()` needs the C math library, which this module does not link. The conversion to
        // an integer cuts off the fraction.
        guard number.isFinite, number >= -0x1p63, number < 0x1p63 else {
            throw WireError(.outOfRange(expected: "seconds that 64 bits hold"), at: start)
        }
        let seconds = Int64(number)
        let attoseconds = (number - Double(seconds)) * 1e18
        return Duration(
            secondsComponent: seconds,
            attosecondsComponent: Int64(attoseconds + (attoseconds < 0 ? -0.5 : 0.5)))
    }

    public static var wireSchema: WireSchema { .duration }
}
