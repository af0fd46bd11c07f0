import ReactorWire

/// The input of one connection: bytes that are not handled yet, and whether frames are handled.
///
///     paused ── resume() ──▶ reading ── pause() ──▶ paused
///     paused ◀── wake() ── resting ◀── rest() ── reading, paused
///     paused ◀── unthrottle() ── throttled ◀── throttle() ── reading, paused
///
/// A connection that sent its share of a turn rests until the end of the next turn. A connection
/// whose user has used its quota is throttled until the user may go on. A connection
/// that does not read its output, or sends too much, is paused until it has caught up. Bytes that
/// arrive during that time wait in the ``FrameAssembler``.
///
/// *Place*: in a ``Connection``. *Owner*: the server; no verb calls back. ``invariants()`` states
/// the invariants.
struct Inlet: ~Copyable {
    /// For how long the actions in progress have waited since they came from the client, in
    /// nanoseconds.
    var heldFor: UInt64 { heldHere &+ waited }

    /// Bytes that arrived and are not handled.
    private var assembler = FrameAssembler()
    /// Whether frames are handled.
    private(set) var state = State.reading
    /// Whether the client has ended its input.
    private(set) var isEnded = false
    /// When the incomplete frame in ``assembler`` began, in nanoseconds.
    private var heldSince: UInt64 = 0
    /// When the last of the held bytes arrived, in nanoseconds.
    private var arrivedAt: UInt64 = 0
    /// Whether a resting connection is throttled when it wakes up.
    private var isThrottledNext = false
    /// For how long the bytes in progress were held back here, in nanoseconds.
    private var heldHere: UInt64 = 0
    /// For how long the last bytes waited at another daemon, in nanoseconds.
    private var waited: UInt64 = 0
    /// Number of bytes of handled frames: the offset in error texts.
    private(set) var usedByteCount: UInt64 = 0
    /// The turn of ``frameCount``.
    private var frameTurn: UInt64 = 0
    /// Frames that were handled in that turn, new actions excluded.
    private var frameCount = 0

    /// Whether frames are handled.
    enum State {
        /// Frames are handled as they arrive.
        case reading
        /// The client must read its output first.
        case paused
        /// The client has sent its share of the turn.
        case resting
        /// The client's user has used its quota.
        case throttled
    }

    /// Counts the time for which the next bytes waited before they came here.
    mutating func countWait(_ nanoseconds: UInt64) { waited = nanoseconds }

    /// Bytes that arrived and are not handled.
    var heldByteCount: Int { assembler.byteCount }

    /// A copy of these bytes.
    var heldBytes: [UInt8] { assembler.unusedBytes }

    /// A copy of all bytes in the memory for them.
    var storedBytes: [UInt8] { assembler.storedBytes }

    /// Bytes of memory for them.
    var keptByteCount: Int { assembler.storedByteCount }

    // MARK: Bytes

    /// Whether no byte is held.
    @inline(__always) var isEmpty: Bool { assembler.isEmpty }

    /// Whether the held bytes contain a frame that can be handled.
    var isReady: Bool { assembler.isReady }

    /// Copies the rest of the incomplete frame from `bytes`. Returns the offset after it.
    mutating func complete(from bytes: Span<UInt8>, at offset: Int) -> Int {
        assembler.complete(from: bytes, at: offset)
    }

    /// Keeps the bytes of a borrowed span that a reader has not used.
    mutating func keep(_ bytes: Span<UInt8>, after progress: FrameProgress, at now: UInt64) {
        guard progress.end < bytes.count else { return }
        assembler.keep(bytes, after: progress)
        heldSince = now
        arrivedAt = now
        invariants()
    }

    /// Keeps bytes that arrive while the connection is not read: the shell had read them before it
    /// got the order to stop.
    mutating func hold(_ bytes: Span<UInt8>, at now: UInt64) {
        assembler.keep(bytes, after: FrameProgress(end: 0))
        arrivedAt = now
    }

    /// Moves all held bytes to a reader.
    mutating func take() -> HeldBytes { assembler.take() }

    /// Moves the bytes that were held back to a reader.
    mutating func takeHeldBack(at now: UInt64) -> HeldBytes {
        heldHere = now &- arrivedAt
        heldSince = now
        return assembler.take()
    }

    /// Takes back the bytes that a reader has not used.
    mutating func restore(
        _ held: consuming HeldBytes, after progress: FrameProgress, at now: UInt64
    ) {
        // The reader has handled a frame, so the remaining bytes belong to a later one, which
        // begins now.
        if progress.end > held.start { heldSince = now }
        assembler.restore(held, after: progress)
        heldHere = 0
        invariants()
    }

    /// Drops the held bytes: no further frame of the connection is handled.
    mutating func clear() {
        assembler.removeAll()
        heldHere = 0
    }

    /// Adds to the number of handled bytes.
    @inline(__always)
    mutating func advance(_ byteCount: Int) { usedByteCount &+= UInt64(byteCount) }

    /// Whether an incomplete frame began `deadline` nanoseconds ago or earlier.
    func isOverdue(at now: UInt64, after deadline: UInt64) -> Bool {
        state == .reading && !assembler.isEmpty && now &- heldSince >= deadline
    }

    // MARK: State

    /// Stops handling frames; returns whether they were handled before.
    mutating func pause() -> Bool {
        guard state == .reading else { return false }
        state = .paused
        return true
    }

    /// Continues to handle frames.
    mutating func resume() {
        precondition(state == .paused, "a connection resumes that is \(state)")
        state = .reading
    }

    /// Counts a handled frame that is no new action; `turn` is the number of ended turns. Returns
    /// whether the client has sent its share of the turn.
    mutating func countFrame(in turn: UInt64, framesMax: Int) -> Bool {
        if frameTurn != turn {
            frameTurn = turn
            frameCount = 0
        }
        frameCount += 1
        return frameCount == framesMax
    }

    /// Stops handling frames until ``wake()``; returns whether they were handled before.
    mutating func rest() -> Bool {
        defer { state = .resting }
        return state == .reading
    }

    /// Ends the rest. The connection is paused then, and may resume, unless it is throttled.
    mutating func wake() {
        precondition(state == .resting, "a connection wakes up that is \(state)")
        state = isThrottledNext ? .throttled : .paused
        isThrottledNext = false
    }

    /// Whether it is throttled, or will be after its rest.
    var isThrottled: Bool { state == .throttled || isThrottledNext }

    /// Stops handling frames until ``unthrottle()``; returns whether they were handled before.
    mutating func throttle() -> Bool {
        if state == .resting {
            isThrottledNext = true
            return false
        }
        defer { state = .throttled }
        return state == .reading
    }

    /// Ends the throttling. The connection is paused or rests then; returns whether it is paused by
    /// this call.
    mutating func unthrottle() -> Bool {
        isThrottledNext = false
        guard state == .throttled else { return false }
        state = .paused
        return true
    }

    /// Records that the client has ended its input; returns whether that is new.
    mutating func end() -> Bool {
        defer { isEnded = true }
        return !isEnded
    }

    /// Checks the invariants after a reader, in debug builds.
    @inline(__always)
    private func invariants() {
        assert(
            state != .reading || !assembler.isReady,
            "\(assembler.byteCount) bytes are held that a reader could go on with")
    }
}
