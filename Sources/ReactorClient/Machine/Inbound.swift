import ReactorBytes
import ReactorWire

/// What has arrived on a connection and has not taken effect: a cut frame, updates that no mark has
/// completed, and outcomes that belong behind them.
///
/// *Place*: an organ of ``ClientMachine``; ``Following`` reads the updates that it holds back.
struct Inbound: ~Copyable {
    /// Puts a frame together that two reads cut.
    private var assembler = FrameAssembler()
    /// Update frames that no mark has completed, from earlier spans.
    private var staged: [UInt8] = []
    /// Where such a frame starts first in the span that is being read.
    private var spanStart: Int?
    /// The last mark of this connection.
    private(set) var mark: UInt64 = 0
    /// True while slices that were live must catch up before anything moves.
    private(set) var isResyncing = false
    /// True from a lag to the next mark: updates were dropped, and every slice has a snapshot to come.
    private(set) var isLagging = false
    private var held: [HeldOutcome] = []
    /// Most bytes of updates without a mark; more are the daemon's fault.
    private let stagedBytesMax: Int

    /// An outcome that waits for the updates it belongs behind.
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
    /// True while a frame was cut.
    var hasPartial: Bool { !assembler.isEmpty }

    /// Appends what the cut frame lacks from `bytes`, and returns the index behind it.
    mutating func complete(from bytes: Span<UInt8>, at start: Int) -> Int {
        assembler.complete(from: bytes, at: start)
    }

    /// True once the cut frame can be read.
    var isReady: Bool { assembler.isReady }

    /// Moves the cut frame out, to be read.
    mutating func takePartial() -> HeldBytes { assembler.take() }

    /// Takes back what the reader has not used of a cut frame.
    mutating func restore(_ held: consuming HeldBytes, after progress: FrameProgress) {
        assembler.restore(held, after: progress)
    }

    /// Copies what the reader has not used of a span.
    mutating func keep(_ bytes: Span<UInt8>, after progress: FrameProgress) {
        assembler.keep(bytes, after: progress)
    }

    /// Begins with a span of frames.
    mutating func beginSpan() { spanStart = nil }

    /// An update frame starts at `start` in the span.
    mutating func stage(from start: Int) {
        if spanStart == nil { spanStart = start }
    }

    /// Copies the updates that no mark has completed out of a span that the caller takes back.
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
    /// All updates before this mark have arrived.
    mutating func reach(_ number: UInt64) throws(ClientFault) {
        guard number >= mark else { throw ClientFault("mark \(number) after mark \(mark)") }
        mark = number
        isLagging = false
    }

    /// Takes out the updates of earlier spans.
    mutating func takeStaged() -> [UInt8] {
        defer { staged = [] }
        return staged
    }

    /// Where the first update stands in the span that is being read, if one does.
    mutating func takeSpanStart() -> Int? {
        defer { spanStart = nil }
        return spanStart
    }

    /// The daemon dropped updates.
    mutating func lag() {
        staged = []
        spanStart = nil
        isLagging = true
        isResyncing = true
    }

    /// Slices that were live have to catch up, or none has.
    mutating func resync(_ isResyncing: Bool = true) { self.isResyncing = isResyncing }

    /// A connection begins.
    mutating func connect() { mark = 0 }

    /// The connection is lost: what is not complete is dropped. Outcomes that are held back stay, for
    /// a session that continues.
    mutating func disconnect() {
        defer { invariants() }
        assembler.removeAll()
        staged = []
        spanStart = nil
        isLagging = false
    }
}

// MARK: - Outcomes
extension Inbound {
    /// Keeps an outcome until the updates before it are shown; of at most `countMax`.
    mutating func hold(_ outcome: HeldOutcome, countMax: Int) throws(ClientFault) {
        guard held.count <= countMax else { throw ClientFault("more outcomes than actions") }
        held.append(outcome)
    }

    /// Takes out the outcomes that were held back, in order.
    mutating func takeHeld() -> [HeldOutcome] {
        defer { held = [] }
        return held
    }

    /// Traps in a debug build unless what is staged is within its bounds, between two spans.
    private func invariants() {
        assert(spanStart == nil, "a span has ended, and updates in it are not copied")
        assert(staged.count <= stagedBytesMax, "\(staged.count) bytes of updates are kept")
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
