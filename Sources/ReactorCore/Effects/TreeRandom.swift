import ReactorThreads

/// The random numbers of a tree: the system's, or those of a test.
///
///     var random = context.random
///     return [.drawn(Int.random(in: 1...6, using: &random))]
///
/// All copies draw from one sequence.
public struct TreeRandom: RandomNumberGenerator, Sendable {
    private let draw: @Sendable () -> UInt64

    private init(_ draw: @escaping @Sendable () -> UInt64) { self.draw = draw }

    /// Draws from `generator`.
    public init(_ generator: some RandomNumberGenerator & Sendable) {
        let generator = Guarded(generator)
        self.init { generator.withLock { $0.next() } }
    }

    /// The next 64 random bits.
    public mutating func next() -> UInt64 { draw() }

    /// Draws from the system's generator, which is fit for secrets.
    public static var system: TreeRandom {
        TreeRandom {
            var generator = SystemRandomNumberGenerator()
            return generator.next()
        }
    }
}
