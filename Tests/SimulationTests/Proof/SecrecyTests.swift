import FoundationEssentials
import ReactorServer
import ReactorTesting
import Testing

/// Non-interference: what hidden nodes contain changes nothing of what a client without rights
/// receives.
///
/// Drives ``SecretWorld``.
struct SecrecyTests {
    /// Number of seeds in one of the tests' cases.
    private static let share: UInt64 = 25
    /// The first seed of each case; as many cases as `REACTORD_SEEDS` asks for.
    static let starts: [UInt64] = {
        let environment = ProcessInfo.processInfo.environment
        if let seed = environment["REACTORD_SEED"].flatMap({ UInt64($0) }) { return [seed] }
        let count = environment["REACTORD_SEEDS"].flatMap { UInt64($0) } ?? 50
        return Array(stride(from: 0, to: count, by: Int(share)))
    }()

    /// Totals of a case.
    private struct Totals {
        var bytes = 0
        var hidden = 0
        var restarts = 0
        var resets = 0
        var different: [UInt64] = []
        var violations: [String] = []
        var firstDifference: (SecretWorld.Frame, SecretWorld.Frame)?
    }

    /// Compares the worlds of two variants.
    private static func compare(
        from start: UInt64, _ variants: (SecretWorld.Variant, SecretWorld.Variant),
        shows: Bool = false
    ) async throws -> Totals {
        try await Apart.run {
            var totals = Totals()
            for seed in start..<start + share {
                let first = try SecretWorld(seed: seed, variants.0, shows: shows)
                let second = try SecretWorld(seed: seed, variants.1, shows: shows)
                first.finish()
                second.finish()
                totals.bytes += first.written.reduce(0) { $0 + $1.bytes.count }
                totals.hidden += first.hiddenCount
                totals.restarts += first.world.counts.restarts
                totals.resets += first.world.counts.resets
                totals.violations += first.world.violations + second.world.violations
                let isSame =
                    if case .acts = variants.0 {
                        try first.frames == second.frames
                    } else {
                        first.written == second.written
                    }
                if !isSame {
                    totals.different.append(seed)
                    totals.firstDifference = try zip(first.frames, second.frames).first { $0 != $1 }
                }
            }
            return totals
        }
    }

    @Test(
        "X112: other contents below hidden nodes give a stranger equal bytes at equal times",
        arguments: starts)
    func contents(start: UInt64) async throws {
        let totals = try await Self.compare(from: start, (.contents(0), .contents(1)))
        #expect(totals.different == [], "\(String(describing: totals.firstDifference))")
        #expect(totals.violations == [])
        #expect(totals.bytes > 100_000 && totals.hidden > 300 && totals.restarts > 0)
        #expect(totals.resets > 0)
    }

    @Test(
        "X112: actions below hidden nodes, or none, give a stranger equal frames besides the counts",
        arguments: starts)
    func acts(start: UInt64) async throws {
        let totals = try await Self.compare(from: start, (.acts(true), .acts(false)))
        #expect(totals.different == [], "\(String(describing: totals.firstDifference))")
        #expect(totals.violations == [])
        #expect(totals.bytes > 100_000 && totals.hidden > 300)
    }

    @Test("the comparison detects a rule that shows a hidden node by mistake")
    func canary() async throws {
        for variants in [
            (SecretWorld.Variant.contents(0), .contents(1)), (.acts(true), .acts(false)),
        ] as [(SecretWorld.Variant, SecretWorld.Variant)] {
            let totals = try await Self.compare(from: 0, variants, shows: true)
            #expect(totals.different.count > 20, "\(totals.different)")
        }
    }
}
