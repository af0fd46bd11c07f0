/// How near the process is to its memory ceiling.
///
///     pressure = pressure.next(used: bytes, max: limits.memoryMax)
///
/// *Shape*: each level begins at a share of the ceiling and ends 5 % of the ceiling below it, so
/// that it does not change at every measurement.
package enum MemoryPressure: Int, Comparable, Sendable {
    /// Below 90 % of the ceiling.
    case none
    /// From 90 % on: the server keeps no deltas and snapshots for later clients, and refuses
    /// newcomers except its owner.
    case high
    /// From 100 % on: it also rejects actions that make states larger, and closes the connection
    /// that keeps most memory alive.
    case full

    package static func < (left: MemoryPressure, right: MemoryPressure) -> Bool {
        left.rawValue < right.rawValue
    }

    /// The share of the ceiling, in percent, at which the level begins.
    private var beginning: Int {
        switch self {
        case .none: 0
        case .high: 90
        case .full: 100
        }
    }

    /// The level after a measurement of `used` bytes; ``none`` without a ceiling.
    package func next(used: Int, max: Int) -> MemoryPressure {
        guard max > 0 else { return .none }
        // Without an overflow for any ceiling.
        let percent = Double(used) / Double(max) * 100
        func isReached(_ level: MemoryPressure) -> Bool {
            percent >= Double(level.beginning - (level <= self ? 5 : 0))
        }
        return isReached(.full) ? .full : isReached(.high) ? .high : .none
    }
}
