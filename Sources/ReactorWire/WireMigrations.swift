/// The steps that convert stored values of a type to the version of today.
///
///     struct Address {
///         static var wireVersion: Int { 3 }
///
///         static var wireMigrations: WireMigrations {
///             .from(1) { try $0.rename("street", to: "road") }
///             .from(2) { try $0.set("country", to: "CH") }
///         }
///     }
///
/// The steps are in ascending order without a gap, and the last begins at the version before
/// ``WireCodable/wireVersion``. The first steps may be removed together with the support of these
/// versions. Values within the converted value already have the version of today: see
/// ``MigratedValue``.
public struct WireMigrations: Sendable {
    /// Converts a value from one version to the next. An error refuses the value, and with it the
    /// start.
    public typealias Step = @Sendable (_ value: inout MigratedValue) throws -> Void

    /// The steps, with the versions that they begin at, in the author's order.
    package private(set) var steps: [(version: Int, body: Step)] = []
    /// Earlier names of the type.
    package private(set) var formerNames: [String] = []

    /// No steps: every type has these by default.
    public static var none: WireMigrations { WireMigrations() }

    /// The step from `version` to the next version.
    public static func from(_ version: Int, _ step: @escaping Step) -> WireMigrations {
        none.from(version, step)
    }

    /// Adds the step from `version` to the next version.
    public func from(_ version: Int, _ step: @escaping Step) -> WireMigrations {
        var longer = self
        longer.steps.append((version, step))
        return longer
    }

    /// Earlier names of the type, with the names of its enclosing types: `Shop.Address`.
    public static func formerly(_ names: String...) -> WireMigrations {
        var named = none
        named.formerNames = names
        return named
    }

    /// Adds earlier names of the type, with the names of its enclosing types: `Shop.Address`.
    public func formerly(_ names: String...) -> WireMigrations {
        var named = self
        named.formerNames += names
        return named
    }
}

// MARK: - The chain
extension WireMigrations {
    /// The author's mistake in the chain of a type of the version `today`, with the remedy.
    package func problem(today: Int) -> String? {
        if today < 1 { return "has version \(today): the first version is 1" }
        var expected = steps.first?.version ?? today
        if expected < 1 { return "has a step from version \(expected): the first version is 1" }
        for step in steps {
            if let problem = problem(of: step.version, expected, today) { return problem }
            expected += 1
        }
        guard today > 1, expected <= today, steps.isEmpty || expected < today else { return nil }
        let last = steps.isEmpty ? today - 1 : expected
        return "has version \(today), and no step from version \(last): add `.from(\(last))`"
    }

    private func problem(of version: Int, _ expected: Int, _ today: Int) -> String? {
        if version >= today {
            return "has version \(today), and a step from version \(version): raise `wireVersion` "
                + "to \(version + 1), or remove the step"
        }
        if version > expected {
            return "has a step from version \(version), and none from \(expected) before it: add "
                + "`.from(\(expected))`, or remove the steps before the gap"
        }
        if version == expected - 1 { return "has two steps from version \(version): remove one" }
        if version < expected {
            return "has a step from version \(version) after the one from \(expected - 1): put the "
                + "steps in ascending order"
        }
        return nil
    }

    /// The steps from `stored` to the version of today; `nil` if the first of them is not there.
    func steps(from stored: Int) -> ArraySlice<(version: Int, body: Step)>? {
        guard let index = steps.firstIndex(where: { $0.version == stored }) else { return nil }
        return steps[index...]
    }
}
