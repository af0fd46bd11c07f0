/// The disturbances in a simulated world: durations of delays and rates of faults.
package struct SimulatedWeather: Sendable {
    /// Maximum delay of bytes, in nanoseconds.
    package var delayMax: UInt64 = 2_000_000
    /// Maximum time in nanoseconds that the server collects input for a turn.
    package var turnDelayMax: UInt64 = 300_000
    /// Maximum time in nanoseconds between two disturbances.
    package var pauseMax: UInt64 = 30_000_000
    /// Percentage of disturbances that reset a connection.
    package var resetPercent = 20
    /// Percentage of disturbances that stop a client from reading.
    package var stallPercent = 40
    /// Percentage of reads that return a single byte.
    package var singleBytePercent = 20
    /// Maximum number of bytes in one read.
    package var portionMax = 8_192
    /// Percentage of connection attempts that fail.
    package var refusalPercent = 10
    /// Percentage of batches that are appended without delay.
    package var swiftAppendPercent = 50
    /// Maximum time in nanoseconds between a commit and its report, in a world with a journal.
    package var reportDelayMax: UInt64 = 500_000

    /// The default disturbances.
    package init() {}

    /// Draws random disturbances, from light to heavy.
    package static func drawn(from random: inout SeededRandom) -> SimulatedWeather {
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

/// How a simulated journal takes, trims and uses snapshots.
package struct SimulatedHabits: Sendable {
    /// Percentage of turns in which a snapshot begins.
    package var snapshotPercent = 10
    /// Percentage of turns in which a snapshot in progress advances.
    package var gatherPercent = 60
    /// Maximum number of nodes or sessions collected at once.
    package var gatherCountMax = 5
    /// Percentage of snapshots after which the rows up to the older snapshot are trimmed.
    package var trimPercent = 50
    /// Percentage of starts that use the older snapshot, if there is one.
    package var olderPercent = 25

    /// The default rates.
    package init() {}
}
