import ReactorLoop
import ReactorServer

/// Measures the process against its memory ceiling.
///
///     if ceiling.isDue(received: count) { server.relieve(ceiling.measure(received: count, at: now)) }
///
/// *Place*: in the ``LoopMeter``; the shell asks it every second, and after each turn. *Shape*: it
/// counts the memory that the process does not share with files, as the system's out-of-memory
/// killer does. So freed memory that the allocator keeps counts too, until ``ProcessMemory/trim()``.
final class MemoryCeiling {
    /// The ceiling in bytes; 0 without one.
    private(set) var byteCountMax: Int
    /// Bytes at the last measurement.
    private(set) var usedByteCount = 0
    /// The level of the last measurement.
    private(set) var pressure = MemoryPressure.none
    /// Bytes that clients had sent at the last measurement.
    private var measuredCount: UInt64 = 0
    /// Time of the last ``ProcessMemory/trim()`` in nanoseconds.
    private var trimmedAt: UInt64?
    private let measureBytes: () -> Int
    private let trim: () -> Void

    /// Nanoseconds between two calls of ``ProcessMemory/trim()``.
    static let trimInterval: UInt64 = 5_000_000_000
    /// A measurement is due once clients have sent this share of the ceiling.
    private static let stepShare = 64

    /// Measures against a ceiling of `byteCountMax` bytes.
    init(
        of byteCountMax: Int, measure: @escaping () -> Int = { ProcessMemory.privateByteCount },
        trim: @escaping () -> Void = { ProcessMemory.trim() }
    ) {
        self.byteCountMax = byteCountMax
        (measureBytes, self.trim) = (measure, trim)
    }

    /// Measures against another ceiling from the next measurement on.
    func setMax(_ byteCountMax: Int) { self.byteCountMax = byteCountMax }

    /// Whether clients have sent so much since the last measurement that another is due.
    func isDue(received count: UInt64) -> Bool {
        byteCountMax > 0 && count &- measuredCount >= UInt64(byteCountMax / Self.stepShare)
    }

    /// Measures, and returns the level.
    func measure(received count: UInt64, at now: UInt64) -> MemoryPressure {
        measuredCount = count
        usedByteCount = measureBytes()
        var next = pressure.next(used: usedByteCount, max: byteCountMax)
        if next != .none, trimmedAt.map({ now &- $0 >= Self.trimInterval }) ?? true {
            trimmedAt = now
            trim()
            usedByteCount = measureBytes()
            next = pressure.next(used: usedByteCount, max: byteCountMax)
        }
        pressure = next
        return next
    }
}

extension MemoryCeiling {
    /// The last measurement and what follows from it, for the log.
    var summary: String {
        let used = ByteSizeText.format(usedByteCount)
        let sizes = "the daemon has \(used) of memoryMax \(ByteSizeText.format(byteCountMax))"
        return switch pressure {
        case .none: "\(sizes): accepting all clients and actions"
        case .high: "\(sizes): accepting no other clients than its own user's"
        case .full: "\(sizes): accepting only actions that make states smaller"
        }
    }

    /// The default ceiling in bytes, and what it is a share of: most of what the control group may
    /// have, else half of the machine's memory; nil if the system shows neither.
    static var automatic: (byteCount: Int, origin: String)? {
        if let group = ProcessMemory.groupByteCountMax, group < .max / 4 {
            return (group / 5 * 4, "80 % of the control group's memory.max")
        }
        return ProcessMemory.machineByteCount.map { ($0 / 2, "half of the machine's memory") }
    }
}
