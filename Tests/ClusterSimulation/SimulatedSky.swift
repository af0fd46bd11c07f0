package import ReactorCluster
import ReactorTesting

/// The random generator that all nodes of a simulated cluster share, and the weather.
package final class SimulatedSky {
    private var random: SeededRandom
    /// The weather.
    package private(set) var weather = EngineWeather.calm
    /// Until this time, the members of the engine have no leader.
    package private(set) var stalledUntil: UInt64 = 0
    /// How often a plain look is answered with an earlier state, in percent, and whether a look that
    /// confirms is.
    package var staleLooks = 0
    package var hasStaleConfirms = false
    /// Deliberate faults.
    package let faults: (any ClusterFaults)?

    /// The chance of a seed.
    package init(seed: UInt64, faults: (any ClusterFaults)? = nil) {
        random = SeededRandom(seed: seed)
        self.faults = faults
    }

    /// Changes the weather.
    package func turn(_ weather: EngineWeather) { self.weather = weather }

    /// Chooses a storm.
    package func turnStormy() { weather = .storm(&random) }

    /// The engine answers nothing until `time`.
    package func stall(until time: UInt64) { stalledUntil = max(stalledUntil, time) }

    /// Whether a kind of fault happens now.
    package func happens(_ fault: KeyPath<EngineWeather, Int>) -> Bool {
        chance(weather[keyPath: fault])
    }

    /// True with a probability of `percent`.
    package func chance(_ percent: Int) -> Bool { percent > 0 && random.chance(percent) }

    /// Time of a message on its way.
    package func delay() -> UInt64 { between(50_000, weather.delayMax) }

    /// A number from a range, both ends included.
    package func between(_ least: UInt64, _ most: UInt64) -> UInt64 {
        UInt64.random(in: least...max(least, most), using: &random)
    }

    /// One of the elements. *Traps*: without elements.
    package func pick<Element>(_ elements: [Element]) -> Element {
        elements[Int(between(0, UInt64(elements.count) - 1))]
    }

    /// 64 random bits.
    package func bits() -> UInt64 { random.next() }
}

/// Deliberate faults in the part of a cluster that a ``SimulatedCluster`` drives.
package protocol ClusterFaults: AnyObject {
    /// Changes a call where the engine applies it.
    func applied(_ call: EngineCall, by node: ClusterNode, to log: SimulatedLog) -> EngineCall
    /// Changes an event before the machine of a node gets it. `position` is the machine's.
    func received(_ event: EngineEvent, by node: ClusterNode, at position: AppliedPosition)
        -> EngineEvent
    /// Whether a node tells its rows before the log has them.
    var tellsEarly: Bool { get }
    /// Whether a deposed node tells the rows that it had decided.
    var tellsDeposed: Bool { get }
    /// Whether a node takes an append without an answer for refused, and so does its client.
    var refusesUnknown: Bool { get }
    /// Whether a node reports rows as durable that it has only stored.
    var reportsUnsynced: Bool { get }
    /// Whether a leader without confirmations continues to act.
    var ignoresSuspension: Bool { get }
    /// Whether a node accepts rows without checking their checksums.
    var skipsChecks: Bool { get }
}
