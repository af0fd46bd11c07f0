/// How rough a simulated world is: how long things take, and how often they break.
public struct SimulatedWeather: Sendable {
    /// Nanoseconds that bytes travel at most.
    public var delayMax: UInt64 = 2_000_000
    /// Nanoseconds that the server gathers input for a turn, at most.
    public var turnDelayMax: UInt64 = 300_000
    /// Nanoseconds between two changes of the weather, at most.
    public var pauseMax: UInt64 = 30_000_000
    /// In how many of a hundred changes a connection is reset.
    public var resetPercent = 20
    /// In how many of a hundred changes a client stops reading.
    public var stallPercent = 40
    /// How many of a hundred reads bring a single byte.
    public var singleBytePercent = 20
    /// Bytes that one read brings at most.
    public var portionMax = 8_192
    /// How many of a hundred attempts to connect come to nothing.
    public var refusalPercent = 10
    /// How many of a hundred batches are appended at once.
    public var swiftAppendPercent = 50
    /// Nanoseconds between a commit and the word of it, at most; where there is a journal.
    public var reportDelayMax: UInt64 = 500_000

    /// The weather where nothing else is said.
    public init() {}

    /// Weather of its own for each source of chance, from fair to foul.
    public static func drawn(from random: inout SeededRandom) -> SimulatedWeather {
        var weather = SimulatedWeather()
        weather.delayMax = [20_000, 200_000, 2_000_000].randomElement(using: &random) ?? 20_000
        weather.turnDelayMax = [1, 30_000, 300_000].randomElement(using: &random) ?? 1
        weather.pauseMax = UInt64.random(in: 2_000_000...30_000_000, using: &random)
        weather.resetPercent = Int.random(in: 0...60, using: &random)
        weather.stallPercent = Int.random(in: 0...30, using: &random)
        weather.singleBytePercent = [0, 1, 20].randomElement(using: &random) ?? 0
        weather.portionMax = [64, 1_024, 65_536].randomElement(using: &random) ?? 64
        weather.refusalPercent = Int.random(in: 0...30, using: &random)
        weather.swiftAppendPercent = Int.random(in: 0...100, using: &random)
        weather.reportDelayMax = [0, 100_000, 2_000_000].randomElement(using: &random) ?? 0
        return weather
    }
}
