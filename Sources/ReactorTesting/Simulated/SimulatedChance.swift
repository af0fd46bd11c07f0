import ReactorBytes
import ReactorServer

/// The random choices of a simulated world: how long bytes travel, and which disturbance comes
/// next.
///
/// *Invariants*: a calm world is never stormy; its bytes take no time and are not split. *Owner*:
/// the world.
struct SimulatedChance {
    /// The seed of all choices.
    let seed: UInt64
    /// Whether the world is without disturbances, delays and splits.
    let isCalm: Bool
    var random: SeededRandom
    var weather: SimulatedWeather
    /// Size in bytes of a simulated socket's buffer.
    var bufferBytes: Int
    /// Whether readers stop and connections are reset.
    private(set) var isStormy: Bool

    init(seed: UInt64, isCalm: Bool, _ weather: SimulatedWeather) {
        self.seed = seed
        self.isCalm = isCalm
        self.weather = weather
        random = SeededRandom(seed: seed)
        bufferBytes = isCalm ? .max : 4_096
        isStormy = !isCalm
    }

    /// A disturbance of a connection.
    enum Disturbance {
        /// The connection breaks.
        case reset
        /// The client stops reading, or reads again.
        case stall(Bool)
    }

    /// Ends the disturbances.
    mutating func calmDown() { isStormy = false }

    /// Returns the time that bytes travel, in nanoseconds.
    mutating func delay() -> UInt64 {
        isCalm ? 0 : UInt64.random(in: 1_000...weather.delayMax, using: &random)
    }

    /// Returns the number of bytes that pass at once.
    mutating func portion() -> Int {
        if isCalm { return .max }
        return random.chance(weather.singleBytePercent)
            ? 1 : Int.random(in: 1...weather.portionMax, using: &random)
    }

    /// Returns the time that the server collects input for a turn.
    mutating func turnPause() -> UInt64 {
        isCalm ? 0 : UInt64.random(in: 0...weather.turnDelayMax, using: &random)
    }

    /// Returns the time until the next disturbance.
    mutating func stormPause() -> UInt64 {
        UInt64.random(in: 1_000_000...weather.pauseMax, using: &random)
    }

    /// Returns what happens to a connection.
    mutating func disturbance() -> Disturbance {
        let kind = Int.random(in: 0..<100, using: &random)
        if kind < weather.resetPercent { return .reset }
        return .stall(kind < weather.resetPercent + weather.stallPercent)
    }

    /// Returns the time that appending a batch takes.
    mutating func appendCost(_ most: UInt64) -> UInt64 {
        let isSwift = isCalm || random.chance(weather.swiftAppendPercent)
        return isSwift ? 0 : UInt64.random(in: 0...most, using: &random)
    }

    /// Returns the time between a commit and its report.
    mutating func reportDelay() -> UInt64 {
        UInt64.random(in: 0...weather.reportDelayMax, using: &random)
    }
}

/// The times of appended batches, which are appended and reported in order.
///
/// *Invariants*: neither time moves back, except when the server is replaced.
struct AppendSchedule {
    /// Maximum time in nanoseconds until a batch is appended.
    var delayMax: UInt64 = 3_000_000
    private var appendDue: UInt64 = 0
    /// The time at which the journal will have reported all commits.
    private var reportDue: UInt64 = 0

    /// Returns when a batch is appended that takes `cost` from `now` on.
    mutating func append(at now: UInt64, after cost: UInt64) -> UInt64 {
        appendDue = max(appendDue, now + cost)
        return appendDue
    }

    /// Returns when a commit at `due` is reported.
    mutating func report(behind due: UInt64, after delay: UInt64) -> UInt64 {
        reportDue = max(reportDue, due) + delay
        return reportDue
    }

    /// Forgets the batches of a server that was replaced.
    mutating func clear() { (appendDue, reportDue) = (0, 0) }
}

/// How often something happened in a simulated world.
struct SimulatedCounts {
    var resets = 0
    var endedLinks = 0
    var restarts = 0
    var fullDisks = 0
}

/// What a test checks at the steps of a simulated world.
struct SimulatedHooks {
    var audit: MemoryAudit?
    var onStep: (() -> Void)?
    var onBatch: ((Batch) -> Void)?
    var onRecovered: ((Recovery) -> Void)?
    var onWrite: ((ConnectionID, [UInt8]) -> Void)?
}
