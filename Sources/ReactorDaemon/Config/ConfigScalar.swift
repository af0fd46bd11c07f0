import ReactorWire
import ReactorYAML

/// The scalar value of a key, converted to the type that the key requires.
struct ConfigScalar {
    private let entry: ConfigSection.Entry
    private let location: ConfigLocation

    /// Reads the value of an entry.
    init(_ entry: ConfigSection.Entry, in document: ConfigDocument) {
        self.entry = entry
        // A missing value has no useful location of its own, so its key's location is reported.
        location =
            ConfigValue.isNothing(entry.value) ? entry.location : document.location(of: entry.value)
    }

    /// Returns a whole number.
    func count(in range: ClosedRange<Int>) throws(ConfigProblem) -> Int {
        guard let count = Int(try text(expected: "a whole number")) else {
            throw problem(expected: "a whole number")
        }
        guard range.contains(count) else {
            throw problem(expected: "\(range.lowerBound) to \(range.upperBound)")
        }
        return count
    }

    /// Returns a number of bytes, written with or without a unit.
    func byteSize(in range: ClosedRange<Int>) throws(ConfigProblem) -> Int {
        let expectation = ByteSizeText.expectation
        guard let bytes = ByteSizeText.parse(try text(expected: expectation)) else {
            throw problem(expected: expectation)
        }
        guard range.contains(bytes) else {
            throw problem(
                expected: ByteSizeText.format(range.lowerBound) + " to "
                    + ByteSizeText.format(range.upperBound))
        }
        return bytes
    }

    /// Returns a duration, written with its unit.
    func duration(in range: ClosedRange<Duration>) throws(ConfigProblem) -> Duration {
        let expectation = DurationText.expectation
        guard let duration = DurationText.parse(try text(expected: expectation)) else {
            throw problem(expected: expectation)
        }
        guard range.contains(duration) else {
            throw problem(
                expected: DurationText.format(range.lowerBound) + " to "
                    + DurationText.format(range.upperBound))
        }
        return duration
    }

    /// Returns the text of the scalar.
    func text(expected: String) throws(ConfigProblem) -> String {
        guard let scalar = entry.value.scalar, !ConfigValue.isNothing(entry.value) else {
            throw problem(expected: expected)
        }
        try ConfigValue.checkTag(of: entry.value, key: entry.key, at: location)
        guard entry.value.tag != YAMLTag.binary else {
            throw ConfigProblem(
                expected: expected, got: "!!binary data", key: entry.key, at: location)
        }
        return scalar.text
    }

    /// Creates a problem for a value that does not fit the key.
    func problem(expected: String) -> ConfigProblem {
        ConfigProblem(
            expected: expected, got: ConfigValue.summary(of: entry.value), key: entry.key,
            at: location)
    }

    /// Creates a problem for a value of the right type that cannot be used.
    func problem(_ reason: String) -> ConfigProblem {
        ConfigProblem(reason, key: entry.key, at: location)
    }
}
