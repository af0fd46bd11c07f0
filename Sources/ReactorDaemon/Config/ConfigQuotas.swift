import ReactorServer
import ReactorWire
import ReactorYAML

/// Reads the `quotas:` section, a list of rules.
struct ConfigQuotas {
    /// The rules of the section.
    private(set) var quotas = QuotaRules()
    /// The problems found in the section.
    private(set) var problems: [ConfigProblem] = []

    private static let keys = ["to", "connections", "memory", "actions", "journal"]
    private static let expectation = "a rule such as `{to: {group: batch}, actions: 5000/s}`"
    private static let actionsRange = 1...1_000_000_000
    private static let journalRange = 1 << 10...64 << 40

    init(_ entry: ConfigSection.Entry, in document: ConfigDocument) {
        guard !ConfigValue.isNothing(entry.value) else { return }
        guard case .sequence(let nodes) = entry.value.content else {
            problems = [ConfigScalar(entry, in: document).problem(expected: "a list of rules")]
            return
        }
        for (index, node) in nodes.enumerated() {
            do throws(ConfigProblem) {
                quotas.rules.append(try rule(node, "\(entry.key)[\(index)]", in: document))
            } catch {
                problems.append(error)
            }
        }
    }

    private func rule(
        _ node: YAMLNode, _ key: String, in document: ConfigDocument
    ) throws(ConfigProblem) -> QuotaRules.Rule {
        let section = try ConfigSection(
            item: node, key: key, in: document, expected: Self.expectation)
        var (subject, quota): (AccessRules.Subject?, UserQuota) = (nil, UserQuota())
        for entry in section.entries {
            let scalar = ConfigScalar(entry, in: document)
            switch entry.name {
            case "to": subject = try ConfigCaller.subject(entry, in: document)
            case "connections":
                quota.connectionsMax = try scalar.quantity(.count, in: 1...1_000_000)
            case "memory":
                quota.memoryMax = try scalar.quantity(.byteSize, in: 1 << 20...64 << 40)
            case "actions":
                quota.actions = try RateText(.count, like: "5000/s")
                    .rate(scalar, in: Self.actionsRange)
            case "journal":
                quota.journal = try RateText(.byteSize, like: "256MiB/h")
                    .rate(scalar, in: Self.journalRange)
            default: throw section.unknown(entry, known: Self.keys)
            }
        }
        guard let subject, quota != UserQuota() else {
            let missing = subject == nil ? "to" : Self.keys.dropFirst().joined(separator: " or ")
            throw ConfigProblem(
                "a rule needs to and a quota: \(missing) is missing", key: key,
                at: section.location)
        }
        return QuotaRules.Rule(to: subject, quota)
    }
}

/// The text form of a rate: a quantity, a slash and a time, such as `5000/s`.
struct RateText {
    private let form: ConfigQuantity<Int>
    private let expectation: String

    /// The times, with their length in nanoseconds.
    private static let units: [(name: String, nanoseconds: UInt64)] = [
        ("s", 1_000_000_000), ("m", 60_000_000_000), ("h", 3_600_000_000_000),
        ("d", 86_400_000_000_000),
    ]

    /// The form of rates of a quantity; `example` is for error texts.
    init(_ form: ConfigQuantity<Int>, like example: String) {
        self.form = form
        expectation = "a rate for each s, m, h or d, such as \(example)"
    }

    /// Returns the rate that a scalar states.
    func rate(
        _ scalar: ConfigScalar, in range: ClosedRange<Int>
    ) throws(ConfigProblem) -> TokenRate {
        let text = try scalar.text(expected: expectation)
        let parts = text.split(separator: "/", omittingEmptySubsequences: false)
        guard parts.count == 2, let unit = Self.units.first(where: { $0.name == parts[1] }) else {
            throw scalar.problem(expected: expectation)
        }
        let amount = try form.quantity(of: String(parts[0]), in: range) {
            scalar.problem(expected: "\($0), before the slash")
        }
        return TokenRate(amount, in: unit.nanoseconds)
    }

    /// The text that ``rate(_:in:)`` reads back.
    static func format(_ rate: TokenRate, as amount: (Int) -> String) -> String {
        let unit = units.first { $0.nanoseconds == rate.nanoseconds }?.name
        return "\(amount(rate.amount))/\(unit ?? "\(rate.nanoseconds)ns")"
    }
}

extension QuotaRules {
    /// The rules, for `reactord --check`: the users of each with what they may use.
    var rows: [(String, String)] {
        rules.map { rule in
            let quota = rule.quota
            let texts = [
                quota.connectionsMax.map { "connections \($0)" },
                quota.memoryMax.map { "memory \(ByteSizeText.format($0))" },
                quota.actions.map { "actions \(RateText.format($0) { "\($0)" })" },
                quota.journal.map { "journal \(RateText.format($0, as: ByteSizeText.format))" },
            ]
            return (rule.subject.text, texts.compactMap { $0 }.joined(separator: ", "))
        }
    }
}
