public import ReactorWire

/// The options of one reactor in the configuration, read one by one by the factory of its kind.
///
/// The factory makes an option known by reading it. ``ReactorCatalog`` refuses options that were
/// not read, and suggests the nearest name that was.
///
/// ```swift
/// catalog.register("list") { options throws(ConfigProblem) in
///     List(capacity: try options.integer("capacity", default: 1_000, in: 1...1_000_000))
/// }
/// ```
public struct ReactorOptions {
    /// The reactor's part of the configuration.
    package let spec: ReactorSpec
    /// Names in the order in which the factory read them.
    private var asked: [String] = []

    /// Creates the options of one reactor.
    package init(_ spec: ReactorSpec) { self.spec = spec }

    /// Returns a whole number, or the default if the option is absent.
    public mutating func integer(
        _ name: String, default fallback: Int, in range: ClosedRange<Int> = .min ... .max
    ) throws(ConfigProblem) -> Int {
        guard let value = value(name) else { return fallback }
        guard case .integer(let integer) = value else {
            throw wrong(name, expected: "an integer", got: value)
        }
        guard let number = Int(exactly: integer), range.contains(number) else {
            throw wrong(
                name, expected: "\(range.lowerBound) to \(range.upperBound)", got: value)
        }
        return number
    }

    /// Returns a number with or without a fraction, or the default if the option is absent.
    public mutating func number(
        _ name: String, default fallback: Double,
        in range: ClosedRange<Double> = -.infinity ... .infinity
    ) throws(ConfigProblem) -> Double {
        guard let value = value(name) else { return fallback }
        let number: Double
        switch value {
        case .integer(let integer): number = Double(integer.value)
        case .float(let float): number = float
        default: throw wrong(name, expected: "a number", got: value)
        }
        guard range.contains(number) else {
            throw wrong(
                name, expected: "\(range.lowerBound) to \(range.upperBound)", got: value)
        }
        return number
    }

    /// Returns `true` or `false`, or the default if the option is absent.
    public mutating func bool(
        _ name: String, default fallback: Bool
    ) throws(ConfigProblem) -> Bool {
        guard let value = value(name) else { return fallback }
        guard case .bool(let bool) = value else {
            throw wrong(name, expected: "true or false", got: value)
        }
        return bool
    }

    /// Returns text, or the default if the option is absent. If `choices` are given, the text
    /// must be one of them.
    public mutating func text(
        _ name: String, default fallback: String, oneOf choices: [String] = []
    ) throws(ConfigProblem) -> String {
        guard let value = value(name) else { return fallback }
        guard case .text(let text) = value else {
            throw wrong(name, expected: "text, in quotes if it looks otherwise", got: value)
        }
        guard choices.isEmpty || choices.contains(text) else {
            throw .unknown("value", text, known: choices, key: key(name), at: location(name))
        }
        return text
    }

    /// Returns a duration such as `5s`, or the default if the option is absent.
    public mutating func duration(
        _ name: String, default fallback: Duration,
        in range: ClosedRange<Duration> = .zero ... .seconds(365 * 86_400)
    ) throws(ConfigProblem) -> Duration {
        try quantity(name, .duration, default: fallback, in: range)
    }

    /// Returns a number of bytes such as `1MiB`, or the default if the option is absent.
    public mutating func byteSize(
        _ name: String, default fallback: Int, in range: ClosedRange<Int> = 0 ... .max
    ) throws(ConfigProblem) -> Int {
        try quantity(name, .byteSize, default: fallback, in: range)
    }

    /// Returns the option's value of any type, or nil if it is absent.
    public mutating func value(_ name: String) -> WireValue? {
        if !asked.contains(name) { asked.append(name) }
        return spec.options[name]
    }

    /// Creates a problem that the factory found, at the option's location or the reactor's.
    public func problem(_ reason: String, option name: String? = nil) -> ConfigProblem {
        guard let name else { return ConfigProblem(reason, key: spec.key, at: spec.mark) }
        return ConfigProblem(reason, key: key(name), at: location(name))
    }

    /// Creates a problem for each option that the factory did not read.
    func unread() -> [ConfigProblem] {
        spec.options.keys.filter { !asked.contains($0) }.map { name in
            .unknown(
                "option of kind \(spec.kind ?? "none")", name, known: asked, key: spec.key,
                at: location(name))
        }
    }

    /// Returns the quantity that the option states as text or as a bare number.
    private mutating func quantity<Value>(
        _ name: String, _ form: ConfigQuantity<Value>, default fallback: Value,
        in range: ClosedRange<Value>
    ) throws(ConfigProblem) -> Value {
        guard let value = value(name) else { return fallback }
        let text: String
        switch value {
        case .text(let written): text = written
        case .integer(let integer): text = "\(integer)"
        default: throw wrong(name, expected: form.expectation, got: value)
        }
        return try form.quantity(of: text, in: range) { expected in
            wrong(name, expected: expected, got: value)
        }
    }

    private func key(_ name: String) -> String { "\(spec.key).\(name)" }

    private func location(_ name: String) -> ConfigLocation { spec.optionMarks[name] ?? spec.mark }

    private func wrong(_ name: String, expected: String, got value: WireValue) -> ConfigProblem {
        ConfigProblem(
            expected: expected, got: ConfigValue.summary(of: value), key: key(name),
            at: location(name)
        )
    }
}
