import Testing

@testable import ReactorDaemon

struct ByteSizeTextTests {
    @Test(
        "a byte size is a plain number or one with its unit",
        arguments: [
            ("0", 0), ("4096", 4_096), ("7B", 7), ("500kB", 500_000), ("64KiB", 65_536),
            ("3MB", 3_000_000), ("1MiB", 1 << 20), ("2GB", 2_000_000_000), ("2GiB", 2 << 30),
        ])
    func parses(text: String, bytes: Int) {
        #expect(ByteSizeText.parse(text) == bytes)
    }

    @Test(
        "any other text is not a byte size",
        arguments: [
            "", "MiB", "-1", "+1", "1.5MiB", "1 MiB", "1mb", "1KB", "1M", "1Mb", "٣MB",
            "9223372036854775807KiB", "99999999999999999999",
        ])
    func refuses(text: String) {
        #expect(ByteSizeText.parse(text) == nil)
    }

    @Test(
        "a byte size is written in its largest whole unit and reads back as itself",
        arguments: [
            (0, "0"), (1, "1"), (1_000, "1kB"), (1_024, "1KiB"), (1 << 20, "1MiB"),
            (1_025, "1025"), (3 << 30, "3GiB"), (5_000_000, "5MB"),
        ])
    func formats(bytes: Int, text: String) {
        #expect(ByteSizeText.format(bytes) == text)
        #expect(ByteSizeText.parse(text) == bytes)
    }
}
