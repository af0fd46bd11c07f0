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
    /// Bytes that the next start of the daemon needs beside its states, at the last measurement.
    private(set) var reservedByteCount = 0
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
    /// Bytes that clients send between two measurements; the maximum without a ceiling.
    private var stepByteCount = UInt64.max
    /// A measurement is due once clients have sent this share of the ceiling.
    private static let stepShare = 64
    /// The same, of what one user may keep.
    private static let userStepShare = 8
    /// Minimum bytes between two measurements for a limit of a user.
    private static let userStepMin = 1 << 20

    /// Measures against a ceiling of `byteCountMax` bytes.
    init(
        of byteCountMax: Int, measure: @escaping () -> Int = { ProcessMemory.privateByteCount },
        trim: @escaping () -> Void = { ProcessMemory.trim() }
    ) {
        self.byteCountMax = byteCountMax
        (measureBytes, self.trim) = (measure, trim)
        setMax(byteCountMax)
    }

    /// Measures against another ceiling from the next measurement on. `userMax` is the smallest
    /// number of bytes that a user may keep; 0 without such a limit.
    func setMax(_ byteCountMax: Int, userMax: Int = 0) {
        self.byteCountMax = byteCountMax
        stepByteCount = byteCountMax > 0 ? UInt64(byteCountMax / Self.stepShare) : .max
        if userMax > 0 {
            let step = max(userMax / Self.userStepShare, Self.userStepMin)
            stepByteCount = min(stepByteCount, UInt64(step))
        }
    }

    /// Whether clients have sent so much since the last measurement that another is due.
    func isDue(received count: UInt64) -> Bool { count &- measuredCount >= stepByteCount }

    /// Measures, and returns the level; without a ceiling it does not measure. `reserve` returns the
    /// bytes that a start needs beside the states. Its argument is whether the number must be exact,
    /// which costs more: before actions are refused, and after each ``ProcessMemory/trim()``.
    func measure(
        received count: UInt64, at now: UInt64, reserve: (_ isExact: Bool) -> Int = { _ in 0 }
    ) -> MemoryPressure {
        measuredCount = count
        guard byteCountMax > 0 else {
            pressure = .none
            return .none
        }
        var next = level(reserving: reserve(false))
        let isTrimDue = trimmedAt.map { now &- $0 >= Self.trimInterval } ?? true
        if next != .none, isTrimDue {
            trimmedAt = now
            trim()
        }
        if next != .none && isTrimDue || next == .full && pressure != .full {
            next = level(reserving: reserve(true))
        }
        pressure = next
        return next
    }

    private func level(reserving byteCount: Int) -> MemoryPressure {
        usedByteCount = measureBytes()
        reservedByteCount = byteCount
        return pressure.next(used: usedByteCount + byteCount, max: byteCountMax)
    }
}

extension MemoryCeiling {
    /// The last measurement and what follows from it, for the log.
    var summary: String {
        let used = ByteSizeText.format(usedByteCount)
        let reserved = ByteSizeText.format(reservedByteCount)
        let sizes =
            "the daemon has \(used), and keeps \(reserved) free for its next start, of memoryMax "
            + ByteSizeText.format(byteCountMax)
        return switch pressure {
        case .none: "\(sizes): accepting all clients and actions"
        case .high: "\(sizes): accepting no other clients than its own user's"
        case .full: "\(sizes): accepting only actions that make states smaller"
        }
    }

    /// The default ceiling in bytes, and what it is a share of: most of what the control group may
    /// have, else half of the machine's memory; nil if the system shows neither.
    static var automatic: (byteCount: Int, origin: String)? {
        if let group = ProcessMemory.groupByteCountMax {
            return (group / 5 * 4, "80 % of the control group's memory")
        }
        return ProcessMemory.machineByteCount.map { ($0 / 2, "half of the machine's memory") }
    }

    /// Maximum that one user's clients may keep by default, in bytes: the queues of
    /// `connectionsPerUIDMax` slow clients and large answers fit into it.
    static let userByteCountMax = 512 << 20

    /// Chooses the limits that are automatic: the ceiling, and what one user's clients may keep of
    /// it, at most half.
    static func chooseAutomatic(in limits: inout ServerLimits) {
        if limits.memoryMax == 0 { limits.memoryMax = automatic?.byteCount ?? 0 }
        guard limits.memoryPerUIDMax == 0 else { return }
        limits.memoryPerUIDMax =
            limits.memoryMax == 0
            ? userByteCountMax : min(userByteCountMax, limits.memoryMax / 2)
    }
}
