import ReactorWire
import Testing

struct DurationTextTests {
    @Test(
        "a duration is a whole number with its unit",
        arguments: [
            ("5s", Duration.seconds(5)), ("30ms", .milliseconds(30)), ("50us", .microseconds(50)),
            ("2m", .seconds(120)), ("1h", .seconds(3_600)), ("7ns", .nanoseconds(7)),
            ("0", .zero), ("0s", .zero),
        ])
    func parses(text: String, duration: Duration) {
        #expect(DurationText.parse(text) == duration)
    }

    @Test(
        "any other text is not a duration, including a number without a unit",
        arguments: [
            "", "5", "s", "-5s", "+5s", "1.5s", "5 s", "5S", "5sec", "5s ", "٥s",
            "9223372036854775807s", "99999999999999999999s",
        ])
    func refuses(text: String) {
        #expect(DurationText.parse(text) == nil)
    }

    @Test(
        "a duration is written in its largest whole unit and reads back as itself",
        arguments: [
            (Duration.zero, "0"), (.seconds(90), "90s"), (.seconds(120), "2m"),
            (.milliseconds(1_500), "1500ms"), (.nanoseconds(1), "1ns"), (.seconds(7_200), "2h"),
        ])
    func formats(duration: Duration, text: String) {
        #expect(DurationText.format(duration) == text)
        #expect(DurationText.parse(text) == duration)
    }
}
