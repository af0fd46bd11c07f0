import Foundation

/// A random number generator (SplitMix64) that returns the same sequence for the same seed.
///
/// A random test prints its seed in every failure, and accepts one from the environment:
/// `REACTOR_SEED=7 swift test`.
struct Seed: RandomNumberGenerator {
    /// The seed of the sequence.
    let start: UInt64

    /// Whether the environment gives the seed.
    static var isGiven: Bool { given != nil }

    private static let given = ProcessInfo.processInfo.environment["REACTOR_SEED"].flatMap {
        UInt64($0)
    }

    /// The seeds of a test with `count` runs, or the seed from the environment.
    static func starts(_ count: UInt64) -> ClosedRange<UInt64> {
        given.map { $0...$0 } ?? 1...count
    }

    private var state: UInt64

    init(_ start: UInt64) {
        self.start = start
        state = start
    }

    mutating func next() -> UInt64 {
        state &+= 0x9e37_79b9_7f4a_7c15
        var mixed = state
        mixed = (mixed ^ (mixed >> 30)) &* 0xbf58_476d_1ce4_e5b9
        mixed = (mixed ^ (mixed >> 27)) &* 0x94d0_49bb_1331_11eb
        return mixed ^ (mixed >> 31)
    }

    /// A number from 0 to `count - 1`.
    mutating func below(_ count: Int) -> Int { Int.random(in: 0..<count, using: &self) }

    /// True with a probability of one in `count`.
    mutating func oneIn(_ count: Int) -> Bool { below(count) == 0 }
}
