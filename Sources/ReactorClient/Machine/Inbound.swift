import ReactorBytes
import ReactorWire

/// Frames and outcomes that have arrived on a connection and have not taken effect: a partial
/// frame, updates before their mark, and outcomes that must follow those updates.
///
/// *Place*: a part of ``ClientMachine``; ``Following`` reads the updates that it holds back.
struct Inbound: ~Copyable {
    /// Joins a frame whose bytes arrived in several reads.
    private var assembler = FrameAssembler()
    /// Update frames of earlier spans whose mark has not arrived.
    private var staged: [UInt8] = []
    /// The last mark that arrived while slices were catching up, and how many of the staged bytes
    /// are before it.
    private var deferred: (mark: UInt64, byteCount: Int)?
    /// Start of the first such frame in the span that is being read.
    private var spanStart: Int?
    /// The last mark of this connection.
    private(set) var mark: UInt64 = 0
    /// True while slices that were live must catch up before any mirror advances.
    private(set) var isResyncing = false
    /// True from a lag to the next mark: the daemon dropped updates, and a snapshot of every slice
    /// is to come.
    private(set) var isLagging = false
    private var held: [HeldOutcome] = []
    /// Limit of the bytes of updates before their mark; a daemon that exceeds it is at fault.
    private let stagedBytesMax: Int

    /// An outcome that must follow updates that have not taken effect.
    enum HeldOutcome {
        case run(ordinal: UInt64, count: UInt64, sequence: UInt64)
        case single(ordinal: UInt64, Outcome)
        /// The effects of an action have ended.
        case done(ordinal: UInt64)
    }

    init(stagedBytesMax: Int) { self.stagedBytesMax = stagedBytesMax }

    /// True while updates wait for a mark.
    var hasStaged: Bool { !staged.isEmpty || spanStart != nil }
    var hasHeld: Bool { !held.isEmpty }
}

// MARK: - Frames
extension Inbound {
    /// True while a frame is partial.
    var hasPartial: Bool { !assembler.isEmpty }

    /// Appends to the partial frame from `bytes`, and returns the index after the bytes taken.
    mutating func complete(from bytes: Span<UInt8>, at start: Int) -> Int {
        assembler.complete(from: bytes, at: start)
    }

    /// True once the partial frame can be read.
    var isReady: Bool { assembler.isReady }

    /// Moves the partial frame out, to be read.
    mutating func takePartial() -> HeldBytes { assembler.take() }

    /// Takes back the bytes of a partial frame that the reader has not used.
    mutating func restore(_ held: consuming HeldBytes, after progress: FrameProgress) {
        assembler.restore(held, after: progress)
    }

    /// Copies the bytes of a span that the reader has not used.
    mutating func keep(_ bytes: Span<UInt8>, after progress: FrameProgress) {
        assembler.keep(bytes, after: progress)
    }

    /// Begins with a span of frames.
    mutating func beginSpan() { spanStart = nil }

    /// Records that an update frame starts at `start` in the span.
    mutating func stage(from start: Int) {
        if spanStart == nil { spanStart = start }
    }

    /// Copies updates whose mark has not arrived, as the caller takes the span back.
    mutating func endSpan(_ bytes: Span<UInt8>, at end: Int) throws(ClientFault) {
        defer { invariants() }
        guard let start = spanStart else { return }
        spanStart = nil
        guard staged.count + end - start <= stagedBytesMax else {
            throw ClientFault("stagedBytesMax \(stagedBytesMax) of updates without a mark")
        }
        staged.append(contentsOf: bytes, start..<end)
    }
}

// MARK: - Marks
extension Inbound {
    /// Handles a mark: all updates before it have arrived.
    mutating func reach(_ number: UInt64) throws(ClientFault) {
        guard number >= mark else { throw ClientFault("mark \(number) after mark \(mark)") }
        mark = number
        isLagging = false
    }

    /// Keeps the last mark, and the updates before it, until slices have caught up. `end` is the
    /// start of the mark's frame.
    mutating func deferMark(_ bytes: Span<UInt8>, at end: Int) throws(ClientFault) {
        try endSpan(bytes, at: end)
        deferred = (mark, staged.count)
    }

    /// Moves out a kept mark with the updates before it, unless updates after it wait for another
    /// mark.
    mutating func takeDeferred() -> (mark: UInt64, staged: [UInt8])? {
        guard let deferred, deferred.byteCount == staged.count, spanStart == nil else { return nil }
        return (deferred.mark, takeStaged())
    }

    /// Forgets a kept mark: a slice was granted, and its updates and a later mark follow.
    mutating func dropDeferred() { deferred = nil }

    /// Moves out the updates of earlier spans.
    mutating func takeStaged() -> [UInt8] {
        defer { dropStaged() }
        return staged
    }

    private mutating func dropStaged() {
        staged = []
        deferred = nil
    }

    /// Start of the first update in the span that is being read, if there is one; resets it.
    mutating func takeSpanStart() -> Int? {
        defer { spanStart = nil }
        return spanStart
    }

    /// Handles a lag: the daemon dropped updates.
    mutating func lag() {
        dropStaged()
        spanStart = nil
        isLagging = true
        isResyncing = true
    }

    /// Starts or ends the wait for slices that were live to catch up.
    mutating func resync(_ isResyncing: Bool = true) { self.isResyncing = isResyncing }

    /// Begins a connection.
    mutating func connect() { mark = 0 }

    /// Handles a lost connection: drops what is incomplete. Outcomes that are held back stay, for a
    /// session that continues.
    mutating func disconnect() {
        defer { invariants() }
        assembler.removeAll()
        dropStaged()
        spanStart = nil
        isLagging = false
    }
}

// MARK: - Outcomes
extension Inbound {
    /// Keeps an outcome, one of at most `countMax`, until the updates before it are shown.
    mutating func hold(_ outcome: HeldOutcome, countMax: Int) throws(ClientFault) {
        guard held.count <= countMax else { throw ClientFault("more outcomes than actions") }
        held.append(outcome)
    }

    /// Moves out the outcomes that were held back, in order.
    mutating func takeHeld() -> [HeldOutcome] {
        defer { held = [] }
        return held
    }

    /// Traps in a debug build unless the staged updates are within their limits, between two spans.
    private func invariants() {
        assert(spanStart == nil, "a span has ended, and updates in it are not copied")
        assert(staged.count <= stagedBytesMax, "\(staged.count) bytes of updates are kept")
        assert(
            deferred.map { $0.byteCount <= staged.count } ?? true,
            "a kept mark follows updates that are gone")
    }
}

extension FrameKind {
    /// True for a kind that only daemons send.
    var isFromDaemon: Bool { rawValue > FrameKind.ping.rawValue }

    /// True if a daemon may send a frame of this raw kind: the kind is known, or may be skipped.
    static func isSentByDaemon(_ rawKind: UInt8) -> Bool {
        FrameKind(rawValue: rawKind)?.isFromDaemon ?? isIgnorable(rawKind)
    }
}
