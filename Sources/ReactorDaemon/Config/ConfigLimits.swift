import ReactorServer

/// Reads the `limits:` section by the ``LimitTable``.
struct ConfigLimits {
    /// The limits of the section; unnamed limits keep their defaults.
    private(set) var limits = ServerLimits()
    /// The problems found in the section.
    private(set) var problems: [ConfigProblem] = []
    private var written: [String: ConfigSection.Entry] = [:]

    /// Reads a section.
    ///
    /// A default that exceeds its enclosing limit is lowered to that limit. A written value that
    /// exceeds it is a problem, because the operator expects it to apply.
    init(_ section: ConfigSection) {
        problems = section.problems { (entry) throws(ConfigProblem) in
            try read(entry, of: section)
        }
        for (inner, outer) in LimitTable.nested { nest(inner, in: outer) }
    }

    private mutating func read(
        _ entry: ConfigSection.Entry, of section: ConfigSection
    ) throws(ConfigProblem) {
        guard let limit = LimitTable.entry(named: entry.name) else {
            throw section.unknown(entry, known: LimitTable.entries.map(\.name))
        }
        let scalar = ConfigScalar(entry, in: section.document)
        switch limit.slot {
        case .count(let path, let range):
            limits[keyPath: path] = try scalar.quantity(.count, in: range)
        case .bytes(let path, let range):
            limits[keyPath: path] = try scalar.quantity(.byteSize, in: range)
        case .ceiling(let path, let range):
            let text = try scalar.text(expected: "a byte size or \(LimitTable.automatic)")
            limits[keyPath: path] =
                text == LimitTable.automatic ? 0 : try scalar.quantity(.byteSize, in: range)
        case .share(let path, let range):
            limits[keyPath: path] = try Self.share(scalar, in: range)
        case .duration(let path, let range):
            let duration = try scalar.quantity(.duration, in: range)
            limits[keyPath: path] = UInt64(duration / .nanoseconds(1))
        }
        written[entry.name] = entry
    }

    private static func share(
        _ scalar: ConfigScalar, in range: ClosedRange<Int>
    ) throws(ConfigProblem) -> ByteShare {
        let text = try scalar.text(expected: "a byte size or a percentage such as 50%")
        guard text.hasSuffix("%") else {
            return .bytes(try scalar.quantity(.byteSize, in: range))
        }
        guard let share = Int(text.dropLast()), (1...100).contains(share) else {
            throw scalar.problem(expected: "1% to 100%, or a byte size")
        }
        return .percent(share)
    }

    private mutating func nest(_ inner: String, in outer: String) {
        guard let innerPath = Self.path(inner), let outerPath = Self.path(outer),
            limits[keyPath: innerPath] > limits[keyPath: outerPath]
        else { return }
        if let entry = written[inner] {
            problems.append(
                ConfigProblem(
                    expected: "at most \(outer), which is \(limits[keyPath: outerPath])",
                    got: "\(limits[keyPath: innerPath])", key: entry.key, at: entry.location))
        } else {
            limits[keyPath: innerPath] = limits[keyPath: outerPath]
        }
    }

    private static func path(_ name: String) -> WritableKeyPath<ServerLimits, Int>? {
        switch LimitTable.entry(named: name)?.slot {
        case .count(let path, _), .bytes(let path, _), .ceiling(let path, _): path
        case .share, .duration, nil: nil
        }
    }
}
