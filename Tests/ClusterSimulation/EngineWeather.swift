package import ReactorTesting

/// The faults of the engine and its connections, in percent of the cases.
package struct EngineWeather: Sendable {
    /// Requests that never arrive.
    package var lostRequests = 0
    /// Answers that never arrive.
    package var lostAnswers = 0
    /// Events of a watch that never arrive.
    package var lostEvents = 0
    /// Events that arrive twice.
    package var doubledEvents = 0
    /// Events that arrive after later ones.
    package var reorderedEvents = 0
    /// Events after which earlier ones arrive again.
    package var backwardEvents = 0
    /// Maximum time on the way, in nanoseconds.
    package var delayMax: UInt64 = 2_000_000

    /// An engine without faults.
    package static let calm = EngineWeather()

    /// A random set of faults.
    package static func storm(_ random: inout SeededRandom) -> EngineWeather {
        var weather = EngineWeather()
        weather.delayMax = [2_000_000, 20_000_000, 150_000_000].randomElement(using: &random) ?? 0
        if random.chance(60) {
            weather.lostRequests = Int.random(in: 0...8, using: &random)
            weather.lostAnswers = Int.random(in: 0...12, using: &random)
        }
        if random.chance(60) {
            weather.lostEvents = Int.random(in: 0...15, using: &random)
            weather.doubledEvents = Int.random(in: 0...15, using: &random)
            weather.reorderedEvents = Int.random(in: 0...15, using: &random)
            weather.backwardEvents = Int.random(in: 0...10, using: &random)
        }
        return weather
    }
}
