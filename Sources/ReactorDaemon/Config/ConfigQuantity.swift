import ReactorWire

/// The text form of a quantity, with which sections and reactor options are read: a count, a number
/// of bytes or a duration.
struct ConfigQuantity<Value: Comparable> {
    /// The part of an error text that names the expected form.
    let expectation: String
    private let parse: (String) -> Value?
    private let format: (Value) -> String

    /// Creates the form that `parse` reads; `format` writes the limits in error texts.
    init(
        _ expectation: String, parse: @escaping (String) -> Value?,
        format: @escaping (Value) -> String
    ) {
        self.expectation = expectation
        self.parse = parse
        self.format = format
    }

    /// Returns the quantity that `text` states.
    ///
    /// *Throws*: what `problem` makes of the expected form, or of the limits if the quantity is
    /// outside of `range`.
    func quantity(
        of text: String, in range: ClosedRange<Value>, problem: (String) -> ConfigProblem
    ) throws(ConfigProblem) -> Value {
        guard let value = parse(text) else { throw problem(expectation) }
        guard range.contains(value) else {
            throw problem("\(format(range.lowerBound)) to \(format(range.upperBound))")
        }
        return value
    }
}

extension ConfigQuantity<Int> {
    /// A whole number.
    static var count: ConfigQuantity {
        ConfigQuantity("a whole number", parse: { Int($0) }, format: { "\($0)" })
    }

    /// A number of bytes, written with or without a unit.
    static var byteSize: ConfigQuantity {
        ConfigQuantity(
            ByteSizeText.expectation, parse: ByteSizeText.parse, format: ByteSizeText.format)
    }
}

extension ConfigQuantity<Duration> {
    /// A duration, written with its unit.
    static var duration: ConfigQuantity {
        ConfigQuantity(
            DurationText.expectation, parse: DurationText.parse, format: DurationText.format)
    }
}
