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

    /// Returns the quantity that the scalar states.
    func quantity<Value>(
        _ form: ConfigQuantity<Value>, in range: ClosedRange<Value>
    ) throws(ConfigProblem) -> Value {
        let text = try text(expected: form.expectation)
        return try form.quantity(of: text, in: range) { problem(expected: $0) }
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

    /// Returns whether the scalar is `true`, and not `false`.
    func bool() throws(ConfigProblem) -> Bool {
        let expectation = "true or false"
        switch try text(expected: expectation) {
        case "true": return true
        case "false": return false
        default: throw problem(expected: expectation)
        }
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
