/// How near a data directory is to the maximum of its size, `data.bytesMax`.
///
///     ceiling.count(appended: bytes)
///     if ceiling.isDue { change = ceiling.measure(occupiedByteCount) }
///
/// *Place*: in the ``HistoryKeeper``, which measures the directory once a second, and after each
/// mebibyte of rows. From 90 % on, the keeper keeps only what a start needs; at 100 %, the server
/// accepts only actions that make states smaller. *Invariants*: without a maximum, the level is
/// ``Level/normal``.
struct DiskCeiling {
    /// How full the directory is.
    enum Level: Comparable {
        /// Below 90 %.
        case normal
        /// At 90 % or more: history that no start needs is removed.
        case scarce
        /// Was at 100 % or more, and is not below 95 % again.
        case full
    }

    /// The maximum in bytes; nil without one.
    private(set) var byteCountMax: Int?
    /// Bytes that the directory occupied at the last measurement.
    private(set) var occupiedByteCount = 0
    /// How full it was then.
    private(set) var level = Level.normal
    /// Bytes of rows appended since the last measurement.
    private var appendedByteCount = 0
    /// By how many bytes states had shrunk when the last snapshot was due for that.
    private var consideredByteCount = 0

    /// Bytes of appended rows after which the directory is measured again.
    private static let measuredByteCount = 1 << 20

    init(byteCountMax: Int?) { self.byteCountMax = byteCountMax }

    /// Sets another maximum, which the next measurement compares.
    mutating func setMax(_ byteCount: Int?) {
        byteCountMax = byteCount
        appendedByteCount = Self.measuredByteCount
    }

    /// Counts rows that were passed to the journal.
    mutating func count(appended byteCount: Int) { appendedByteCount += byteCount }

    /// Whether enough rows were appended for another measurement.
    var isDue: Bool { byteCountMax != nil && appendedByteCount >= Self.measuredByteCount }

    /// Takes a measurement; returns the new level if it is another. While `isBusy`, a snapshot or
    /// a removal is in progress, which will free space: the directory does not become full then,
    /// but at the measurement after it.
    mutating func measure(_ byteCount: Int, isBusy: Bool) -> Level? {
        appendedByteCount = 0
        occupiedByteCount = byteCount
        let former = level
        level = levelNow(isBusy: isBusy)
        invariants()
        return level == former ? nil : level
    }

    private func levelNow(isBusy: Bool) -> Level {
        guard let most = byteCountMax else { return .normal }
        if occupiedByteCount >= (level == .full ? most - most / 20 : most) {
            return isBusy && level != .full ? .scarce : .full
        }
        return occupiedByteCount >= most - most / 10 ? .scarce : .normal
    }

    /// Bytes of fresh rows from which a snapshot is worthwhile while space is scarce: a snapshot
    /// replaces them.
    private var freshByteCountMin: Int { max(1 << 20, (byteCountMax ?? 0) / 64) }

    /// Whether a snapshot would free space: there are enough rows that it replaces, or states are
    /// smaller than at the last one.
    mutating func isRelief(freshByteCount: Int, shrunkByteCount: Int) -> Bool {
        guard level != .normal else { return false }
        guard
            freshByteCount >= freshByteCountMin
                || shrunkByteCount >= consideredByteCount + freshByteCountMin
        else { return false }
        consideredByteCount = shrunkByteCount
        return true
    }

    private func invariants() {
        assert(byteCountMax != nil || level == .normal, "a directory without a maximum is full")
    }
}
