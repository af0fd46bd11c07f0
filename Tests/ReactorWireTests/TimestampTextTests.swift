import ReactorWire
import Testing

@Suite("Timestamps as text")
struct TimestampTextTests {
    @Test(
        "a time is formatted as a calendar date with milliseconds, in UTC",
        arguments: [
            (0, "1970-01-01T00:00:00.000Z"), (-1, "1969-12-31T23:59:59.999Z"),
            (951_782_400_000, "2000-02-29T00:00:00.000Z"),
            (951_868_799_999, "2000-02-29T23:59:59.999Z"),
            (951_868_800_000, "2000-03-01T00:00:00.000Z"),
            (1_709_164_800_042, "2024-02-29T00:00:00.042Z"),
            (1_735_689_599_000, "2024-12-31T23:59:59.000Z"),
            (4_107_542_400_000, "2100-03-01T00:00:00.000Z"),
            (-62_135_596_800_000, "0001-01-01T00:00:00.000Z"),
        ] as [(Int64, String)])
    func format(milliseconds: Int64, text: String) {
        #expect(TimestampText.format(milliseconds: milliseconds) == text)
    }

    @Test("any clock value has a text", arguments: [Int64.min, .max])
    func extremes(milliseconds: Int64) {
        #expect(TimestampText.format(milliseconds: milliseconds).hasSuffix("Z"))
    }
}
