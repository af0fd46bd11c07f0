import FoundationEssentials
import ReactorFoundation
import ReactorWire
import Testing

@Suite("Dates on the wire")
struct DateTests {
    @Test(
        "the bytes of a date are pinned",
        arguments: [
            (Date(timeIntervalSince1970: 1_795_478_400), "1a6b04d380"),
            (Date(timeIntervalSince1970: 0), "00"),
            (Date(timeIntervalSince1970: -1), "20"),
            (Date(timeIntervalSinceReferenceDate: 0.5), "821a3a4fc880f93800"),
            (Date(timeIntervalSinceReferenceDate: -0.25), "821a3a4fc880f9b400"),
            (Date.distantPast, "3b0000000e779499ff"),
        ])
    func golden(date: Date, hex: String) throws {
        #expect(date.wireBytes().hex == hex)
        #expect(try Date(wireBytes: date.wireBytes()) == date)
    }

    @Test(
        "every date survives a round trip with its last bit",
        arguments: [
            0.1, -0.1, 1e-300, -1e-300, 817_171_200.123_456_7, .leastNonzeroMagnitude,
            -63_114_076_800.3, 0x1p53 + 2, 0x1p62, -0x1p62, 0.999_999_999_999_999_9,
        ])
    func exact(distance: Double) throws {
        let date = Date(timeIntervalSinceReferenceDate: distance)
        let read = try Date(wireBytes: date.wireBytes())
        #expect(read.timeIntervalSinceReferenceDate.bitPattern == distance.bitPattern)
    }

    @Test("distant dates survive a round trip")
    func distant() throws {
        for date in [Date.distantPast, Date.distantFuture] {
            #expect(try Date(wireBytes: date.wireBytes()) == date)
        }
    }

    @Test("JSON shows seconds since 1970; a float and an array without a fraction are read as well")
    func json() throws {
        let date = Date(timeIntervalSince1970: 1_795_478_400.25)
        #expect(try WireValue(encoding: date).json() == "[1795478400,0.25]")
        for text in ["1795478400.25", "[1795478400,0.25]", "[1795478401,-0.75]"] {
            #expect(try WireValue(json: text).decoded(as: Date.self) == date, "\(text)")
        }
        let whole = try WireValue(json: "[7,0]").decoded(as: Date.self)
        #expect(whole == Date(timeIntervalSince1970: 7))
    }

    @Test("a date that is not finite is refused with its place, but read from storage")
    func infinite() throws {
        for number in [Double.nan, .infinity, -.infinity, 1e300] {
            let bytes = Date(timeIntervalSince1970: number).wireBytes()
            #expect(
                throws: WireError(
                    .outOfRange(expected: "a date within 2^62 seconds of 2001"), at: 0)
            ) { try Date(wireBytes: bytes) }
            let kept = try Date(keptBytes: bytes.span).timeIntervalSince1970
            #expect(kept == number || kept.isNaN && number.isNaN)
        }
    }

    @Test(
        "other values are refused",
        arguments: [
            #""2026-11-24""#, "[1]", "[1,0.5,2]", "[1,1.0]", "[1.5,0.5]", "9223372036854775808",
            "9223372036854775807", "-9223372036854775808", "null",
        ])
    func refused(json: String) throws {
        #expect(throws: WireError.self) {
            try WireValue(json: json).decoded(as: Date.self)
        }
    }
}

extension [UInt8] {
    /// The bytes as two hexadecimal digits each.
    var hex: String {
        map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
    }
}
