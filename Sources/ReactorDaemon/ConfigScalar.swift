import ReactorWire
import Yams

/// A single value under a key, read as what the key asks for.
struct ConfigScalar {
    private let entry: ConfigSection.Entry
    private let place: ConfigPlace

    /// The value of an entry.
    init(_ entry: ConfigSection.Entry, in document: ConfigDocument) {
        self.entry = entry
        // because nothing has no place of its own that would help
        place = ConfigValue.isNothing(entry.value) ? entry.place : document.place(of: entry.value)
    }

    /// A whole number.
    func count(in range: ClosedRange<Int>) throws(ConfigProblem) -> Int {
        guard let count = Int(try text(expected: "a whole number")) else {
            throw problem(expected: "a whole number")
        }
        guard range.contains(count) else {
            throw problem(expected: "\(range.lowerBound) to \(range.upperBound)")
        }
        return count
    }

    /// A number of bytes, with or without a unit.
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

    /// A duration with its unit.
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

    /// Some text.
    func text(expected: String) throws(ConfigProblem) -> String {
        guard case .scalar(let scalar) = entry.value, !ConfigValue.isNothing(entry.value) else {
            throw problem(expected: expected)
        }
        try ConfigValue.checkTag(of: entry.value, key: entry.key, at: place)
        return scalar.string
    }

    /// The value is not what the key asks for.
    func problem(expected: String) -> ConfigProblem {
        ConfigProblem(
            expected: expected, got: ConfigValue.summary(of: entry.value), key: entry.key,
            at: place)
    }

    /// The value is of the right kind and yet cannot be used.
    func problem(_ reason: String) -> ConfigProblem {
        ConfigProblem(reason, key: entry.key, at: place)
    }
}
