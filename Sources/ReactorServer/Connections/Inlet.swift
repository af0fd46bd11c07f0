import ReactorWire

/// What arrives on one connection: bytes that were not used yet, and whether more of them are read.
///
///     paused ── resume() ──▶ reading ── pause() ──▶ paused
///     paused ◀── wake() ── resting ◀── rest() ── reading, paused
///
/// A connection that sent its share of a turn rests until another turn has ended. One that does not
/// take what it is sent, or sends too much, is paused until it has caught up. What arrives in the
/// meantime is held in the ``FrameAssembler``.
///
/// *Place*: in a ``Connection``. *Owner*: the server; no verb calls back. ``invariants()`` states what
/// holds between two verbs.
struct Inlet: ~Copyable {
    /// Bytes that arrived and were not used.
    private var assembler = FrameAssembler()
    /// Whether frames are handled as they arrive.
    private(set) var state = State.reading
    /// Whether the client sends nothing more.
    private(set) var isEnded = false
    /// When the frame that ``assembler`` holds a part of was begun, in nanoseconds.
    private var heldSince: UInt64 = 0
    /// When the last of the held bytes arrived, in nanoseconds.
    private var arrivedAt: UInt64 = 0
    /// For how long the bytes that are handled now were held back, in nanoseconds.
    private(set) var heldFor: UInt64 = 0
    /// Bytes of the whole frames that were handled: the offset that errors name.
    private(set) var usedByteCount: UInt64 = 0
    /// The turn that ``frameCount`` is of.
    private var frameTurn: UInt64 = 0
    /// Frames other than new actions that were handled in that turn.
    private var frameCount = 0

    /// Whether frames are handled.
    enum State {
        /// They are handled as they arrive.
        case reading
        /// The client has to take what it was sent before more is handled.
        case paused
        /// The client has had its share of the turn.
        case resting
    }

    /// Bytes that arrived and were not used.
    var heldByteCount: Int { assembler.byteCount }

    /// Bytes of memory that hold them.
    var keptByteCount: Int { assembler.storedByteCount }

    // MARK: Bytes

    /// Whether no byte is held.
    @inline(__always) var isEmpty: Bool { assembler.isEmpty }

    /// Whether a reader can go on with the held bytes.
    var isReady: Bool { assembler.isReady }

    /// Copies what the cut frame lacks from `bytes`; answers the index behind it.
    mutating func complete(from bytes: Span<UInt8>, at offset: Int) -> Int {
        assembler.complete(from: bytes, at: offset)
    }

    /// Keeps the bytes that a reader has not used of a span that it was lent.
    mutating func keep(_ bytes: Span<UInt8>, after progress: FrameProgress, at now: UInt64) {
        guard progress.end < bytes.count else { return }
        assembler.keep(bytes, after: progress)
        heldSince = now
        arrivedAt = now
        invariants()
    }

    /// Keeps bytes that arrived while the connection is not read from: the shell had read them before
    /// it was ordered to stop.
    mutating func hold(_ bytes: Span<UInt8>, at now: UInt64) {
        assembler.keep(bytes, after: FrameProgress(end: 0))
        arrivedAt = now
    }

    /// Moves all held bytes out, for a reader.
    mutating func take() -> HeldBytes { assembler.take() }

    /// Moves the bytes out that were held while the connection was not read from.
    mutating func takeHeldBack(at now: UInt64) -> HeldBytes {
        heldFor = now &- arrivedAt
        heldSince = now
        return assembler.take()
    }

    /// Takes back what a reader has not used.
    mutating func restore(
        _ held: consuming HeldBytes, after progress: FrameProgress, at now: UInt64
    ) {
        // A frame whose header is complete was begun when its first byte arrived.
        if progress.end > held.start { heldSince = now }
        assembler.restore(held, after: progress)
        heldFor = 0
        invariants()
    }

    /// Drops the held bytes: nothing more of the connection is handled.
    mutating func clear() {
        assembler.removeAll()
        heldFor = 0
    }

    /// Counts bytes of whole frames that were handled.
    @inline(__always)
    mutating func advance(_ byteCount: Int) { usedByteCount &+= UInt64(byteCount) }

    /// Whether a frame was begun `deadline` nanoseconds ago and has not been completed.
    func isOverdue(at now: UInt64, after deadline: UInt64) -> Bool {
        state == .reading && !assembler.isEmpty && now &- heldSince >= deadline
    }

    // MARK: State

    /// Stops handling frames; answers whether that is new.
    mutating func pause() -> Bool {
        guard state == .reading else { return false }
        state = .paused
        return true
    }

    /// Goes on handling frames.
    mutating func resume() {
        precondition(state == .paused, "a connection resumes that is \(state)")
        state = .reading
    }

    /// Counts a frame that is no new action, handled while `turn` turns had ended; answers whether the
    /// client has had its share of the turn with it.
    mutating func countFrame(in turn: UInt64, framesMax: Int) -> Bool {
        if frameTurn != turn {
            frameTurn = turn
            frameCount = 0
        }
        frameCount += 1
        return frameCount == framesMax
    }

    /// Stops handling frames until ``wake()``; answers whether frames were handled until now.
    mutating func rest() -> Bool {
        defer { state = .resting }
        return state == .reading
    }

    /// Ends the rest; the connection is paused then, and may resume.
    mutating func wake() {
        precondition(state == .resting, "a connection wakes up that is \(state)")
        state = .paused
    }

    /// Records that the client sends nothing more; answers whether that is new.
    mutating func end() -> Bool {
        defer { isEnded = true }
        return !isEnded
    }

    /// What holds behind a reader; checked in debug builds.
    @inline(__always)
    private func invariants() {
        assert(
            state != .reading || !assembler.isReady,
            "\(assembler.byteCount) bytes are held that a reader could go on with")
    }
}
