import FoundationEssentials

/// The seeds of a simulation, in cases that run beside each other.
///
///     static let plan = SeedPlan(count: 40, perCase: 10)
///     @Test(arguments: plan.cases) func storms(_ first: UInt64) { for seed in plan.seeds(from: first) … }
///
/// *Shape*: `REACTORD_SEEDS` is another number of seeds, for a long run; `REACTORD_SEED` is the one
/// seed of a single case.
struct SeedPlan: Sendable {
    /// The first seed of each case.
    let cases: [UInt64]
    private let seed: UInt64?
    private let perCase: UInt64

    /// Plans `count` seeds from `first` on, `perCase` in each case.
    init(from first: UInt64 = 0, count: UInt64, perCase: UInt64) {
        let environment = ProcessInfo.processInfo.environment
        let wanted = environment["REACTORD_SEEDS"].flatMap { UInt64($0) } ?? count
        seed = environment["REACTORD_SEED"].flatMap { UInt64($0) }
        self.perCase = perCase
        cases =
            environment["REACTORD_SEED"] == nil
            ? Array(stride(from: first, to: first + wanted, by: Int(perCase))) : [0]
    }

    /// The seeds of the case that begins with `first`.
    func seeds(from first: UInt64) -> [UInt64] {
        seed.map { [$0] } ?? Array(first..<first + perCase)
    }
}
