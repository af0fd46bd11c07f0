package import ReactorBytes
package import ReactorServer

/// The random choices of a simulated world: how long bytes travel, and which disturbance comes
/// next.
///
/// *Invariants*: a calm world is never stormy; its bytes take no time and are not split. *Owner*:
/// the world.
package final class SimulatedChance {
    /// The seed of all choices.
    package let seed: UInt64
    /// Whether the world is without disturbances, delays and splits.
    let isCalm: Bool
    /// The rates and durations of disturbances.
    let weather: SimulatedWeather
    /// Size in bytes of a simulated socket's buffer.
    let bufferBytes: Int
    /// Whether readers stop and connections are reset.
    package private(set) var isStormy: Bool
    private var random: SeededRandom

    /// Draws from `seed` as `weather` says; a calm world has no delays and no disturbances.
    package init(seed: UInt64, isCalm: Bool, _ weather: SimulatedWeather = SimulatedWeather()) {
        self.seed = seed
        self.isCalm = isCalm
        self.weather = weather
        random = SeededRandom(seed: seed)
        bufferBytes = isCalm ? .max : 4_096
        isStormy = !isCalm
    }

    /// The source of all choices.
    package var source: SeededRandom {
        get { random }
        set { random = newValue }
    }

    /// A disturbance of a connection.
    enum Disturbance {
        /// The connection breaks.
        case reset
        /// The client stops reading, or reads again.
        case stall(Bool)
    }

    /// Ends the disturbances.
    func calmDown() { isStormy = false }

    /// Returns the time that bytes travel, in nanoseconds.
    func delay() -> UInt64 {
        isCalm ? 0 : UInt64.random(in: 1_000...weather.delayMax, using: &random)
    }

    /// Returns the number of bytes that pass at once.
    func portion() -> Int {
        if isCalm { return .max }
        return random.chance(weather.singleBytePercent)
            ? 1 : Int.random(in: 1...weather.portionMax, using: &random)
    }

    /// Returns the time that the server collects input for a turn.
    func turnPause() -> UInt64 {
        isCalm ? 0 : UInt64.random(in: 0...weather.turnDelayMax, using: &random)
    }

    /// Returns the time until the next disturbance.
    func stormPause() -> UInt64 {
        UInt64.random(in: 1_000_000...weather.pauseMax, using: &random)
    }

    /// Returns what happens to a connection.
    func disturbance() -> Disturbance {
        let kind = Int.random(in: 0..<100, using: &random)
        if kind < weather.resetPercent { return .reset }
        return .stall(kind < weather.resetPercent + weather.stallPercent)
    }

    /// Returns the time that appending a batch takes.
    func appendCost(_ most: UInt64) -> UInt64 {
        let isSwift = isCalm || random.chance(weather.swiftAppendPercent)
        return isSwift ? 0 : UInt64.random(in: 0...most, using: &random)
    }

    /// Returns the time between a commit and its report.
    func reportDelay() -> UInt64 {
        isCalm ? 0 : UInt64.random(in: 0...weather.reportDelayMax, using: &random)
    }
}

/// The times of appended batches, which are appended and reported in order.
///
/// *Invariants*: neither time moves back, except when the server is replaced.
package final class AppendSchedule {
    /// Maximum time in nanoseconds until a batch is appended; about half of the batches take none.
    package private(set) var delayMax: UInt64 = 3_000_000
    private var appendDue: UInt64 = 0
    /// The time at which the journal will have reported all commits.
    private var reportDue: UInt64 = 0

    /// Sets the maximum time in nanoseconds until a batch is appended.
    package func limit(to delayMax: UInt64) { self.delayMax = delayMax }

    /// Returns when a batch is appended that takes `cost` from `now` on.
    func append(at now: UInt64, after cost: UInt64) -> UInt64 {
        appendDue = max(appendDue, now + cost)
        return appendDue
    }

    /// Returns when a commit at `due` is reported.
    func report(behind due: UInt64, after delay: UInt64) -> UInt64 {
        reportDue = max(reportDue, due) + delay
        return reportDue
    }

    /// Forgets the batches of a server that was replaced.
    func clear() { (appendDue, reportDue) = (0, 0) }
}

/// How often something happened in a simulated world.
package struct SimulatedCounts {
    /// Connections that were reset.
    package internal(set) var resets = 0
    /// Connections whose end was reported to the server.
    package internal(set) var endedLinks = 0
    /// Restarts of the server.
    package internal(set) var restarts = 0
    /// Times the disk was full.
    package internal(set) var fullDisks = 0
}

/// What a test checks at the steps of a simulated world.
package final class SimulatedHooks {
    /// Compares the server's memory with its limits after every step.
    package private(set) var audit: MemoryAudit?
    /// Changes the server's counts of each user before they are compared with the buffers: a
    /// planted miscount, which the comparison must find.
    package var distort: (inout [UInt32: MemoryCharge]) -> Void = { _ in }
    /// Called after every step of the server.
    package var onStep: (() -> Void)?
    /// Takes each batch in the place of a journal; ``SimulatedWorld/appended(_:)`` reports it.
    package var onAppend: ((Batch) -> Void)?
    /// Called with each batch before it is appended.
    package var onBatch: ((Batch) -> Void)?
    /// Called before the server learns that the oldest batch is appended, in a world without a
    /// journal.
    package var onAppended: (() -> Void)?
    /// Called with the recovered state before clients are served.
    package var onRecovered: ((Recovery) -> Void)?
    /// Called with the bytes of each write, which are whole frames, before the client receives
    /// them.
    package var onWrite: ((ConnectionID, [UInt8]) -> Void)?
    /// Called with bytes that arrived at the server; returns those that the server reads in their
    /// place.
    package var onRead: ((ConnectionID, [UInt8]) -> [UInt8])?
    /// Called with what the server passes to the leading one, and with what it answers to a node.
    package var onForward: ((ForwardRequest) -> Void)?
    package var onReply: ((UInt8, ForwardReply) -> Void)?
    /// Called when the server wants to know whether its state is the cluster's.
    package var onConfirm: (() -> Void)?

    /// Has `audit` check every step.
    package func check(_ audit: MemoryAudit) { self.audit = audit }
}
