import CLibUV
import Glibc
import ReactorBytes
import ReactorThreads

/// The behaviour of a turn without events.
public enum TurnMode: Sendable {
    /// Waits, without using the processor, until something happens.
    case wait
    /// Returns at once.
    case noWait
}

/// A libuv loop whose passes are visible as turns.
///
/// *Place*: the base of the daemon and of the client. Sockets, timers and signals call back from
/// it; other threads use its ``handle``.
///
/// A turn runs timers, I/O callbacks, posted jobs and then ``onTurnEnd``, which sends the outputs
/// of everything that arrived. Only then does the loop wait.
///
/// *Owner*: not Sendable; the thread that turns it. Another thread may make it, before its first
/// turn.
@safe
public final class EventLoop {
    /// Maximum bytes of one read, and the size of the buffer that all connections share.
    package static let readBytesMax = 65_536

    /// Runs at the end of every turn in which anything happened, before the loop waits again.
    package var onTurnEnd: (() -> Void)? {
        get { callbacks.turnEnd }
        set { callbacks.turnEnd = newValue }
    }
    /// Runs before the posted jobs of a turn, after its I/O callbacks, if jobs were posted.
    package var onJobs: (() -> Void)? {
        get { callbacks.jobs }
        set { callbacks.jobs = newValue }
    }
    /// The loop as other threads may use it.
    public let handle: LoopHandle
    /// Number of turns so far, empty ones included.
    package var turnCount: UInt64 { turns }
    /// Whether ``close()`` was called.
    package var isClosed: Bool { closed }

    // An access to a public variable is checked for exclusivity at run time. Every turn uses these,
    // which no other module can reach and whose accesses the compiler checks.
    private var callbacks = Callbacks()
    private(set) var turns: UInt64 = 0
    private var closed = false

    /// What the loop calls in a turn.
    private struct Callbacks {
        var turnEnd: (() -> Void)?
        var jobs: (() -> Void)?
    }

    let raw: UnsafeMutablePointer<uv_loop_t>
    let readBuffer: UnsafeMutablePointer<CChar>
    // A vectored write is complete when the call returns, so all connections share one vector.
    let vector: UnsafeMutablePointer<uv_buf_t>
    /// Maximum slices of one system call, the system's `IOV_MAX`; more slices take another call.
    static let vectorCountMax = 1_024

    let doorbell = LoopDoorbell()
    private let bell: UnsafeMutablePointer<uv_async_t>
    private var isTurning = false
    private var activity = Activity()
    private(set) var expectation = Expectation()
    private let polling: Cell<Polling>
    private var jobs: [LoopJob] = []
    private let endings = Cell(TurnEndings())

    /// Opens a loop.
    ///
    /// `spin` is the duration of polling after traffic, before the loop sleeps; zero, the default,
    /// turns polling off. The loop does not poll while another program needs the processor.
    ///
    /// *Throws*: if the system has no free descriptor. *C*: `uv_loop_init`, `uv_async_init`.
    public convenience init(spin: Duration = .zero) throws(LoopError) {
        try self.init(spin: spin, on: ProcessorCount())
    }

    /// Opens a loop that asks `processors` whether it may poll.
    init(spin: Duration, on processors: ProcessorCount) throws(LoopError) {
        BrokenPipe.ignore()
        // libuv aborts the process when it closes a descriptor of 0 to 2.
        StandardStream.openMissing()
        unsafe raw = .allocate(capacity: 1)
        unsafe bell = .allocate(capacity: 1)
        unsafe readBuffer = .allocate(capacity: Self.readBytesMax)
        unsafe vector = .allocate(capacity: Self.vectorCountMax)
        let governor = SpinGovernor(limit: spin.nanoseconds)
        polling = Cell(Polling(spin: governor, processors: processors))
        handle = LoopHandle(doorbell)

        var code = unsafe uv_loop_init(raw)
        if code == 0 {
            code = unsafe uv_async_init(raw, bell) { unsafe EventLoop.of($0)?.isRungFromOutside() }
            if code != 0 { unsafe uv_loop_close(raw) }
        }
        guard code == 0 else {
            closed = true
            throw .call(CallFailure(call: "uv_loop_init", code: code, subject: "event loop"))
        }
        unsafe raw.pointee.data = Unmanaged.passUnretained(self).toOpaque()
        unsafe bell.pointee.data = nil
        unsafe doorbell.open(bell)
    }

    deinit {
        close()
        unsafe vector.deallocate()
        unsafe readBuffer.deallocate()
        unsafe bell.deallocate()
        unsafe raw.deallocate()
    }

    /// Changes the duration of polling after traffic.
    package func setSpin(_ spin: Duration) {
        polling.value.spin = SpinGovernor(limit: spin.nanoseconds)
    }

    /// Monotonic time in nanoseconds, from an arbitrary origin. *C*: `uv_hrtime`.
    package var now: UInt64 { uv_hrtime() }

    /// Runs `job` in this turn, or in the next if this turn runs no more jobs.
    @discardableResult
    public func post(_ job: @escaping @Sendable () -> Void) -> Bool {
        handle.post(job)
    }

    /// Closes all resources of the loop, runs the last callbacks, and frees it.
    ///
    /// Jobs posted before still run; later, `post` returns false. *Traps*: inside a turn.
    public func close() {
        guard !isClosed else { return }
        precondition(!isTurning, "a loop cannot be closed from inside its own turn; stop it first")
        isTurning = true
        doorbell.beginTurn()
        // A late job must not start while another job runs here.
        handle.executor.holdLateJobs()
        doorbell.close()
        runJobs()
        handle.executor.releaseLateJobs()
        closed = true
        callbacks = Callbacks()
        _ = endings.value.take()
        closeResources()
        doorbell.endTurn()
        isTurning = false
    }

    /// Records that a callback ran, so that the turn calls ``onTurnEnd``.
    func noteActivity() {
        activity.isActive = true
    }

    /// Records that bytes, connections or jobs arrived, after which more are likely.
    func noteTraffic() {
        activity.isActive = true
        activity.hasTraffic = true
    }

    /// Throws if the loop is closed; `subject` is for the error.
    func checkIsOpen(for subject: String) throws(LoopError) {
        if isClosed { throw .loopIsClosed(subject: subject) }
    }

    private func closeResources() {
        unsafe uv_walk(
            raw,
            { handle, _ in
                guard let handle = unsafe handle, unsafe uv_is_closing(handle) == 0 else { return }
                if let resource = unsafe handle.resource {
                    resource.close()
                } else {
                    unsafe uv_close(handle, nil)
                }
            }, nil)
        // Each pass runs the close callbacks of the last one, until no callback is left.
        while unsafe uv_run(raw, UV_RUN_DEFAULT) != 0 {}
        let code = unsafe uv_loop_close(raw)
        precondition(code == 0, "uv_loop_close answered \(code): a handle is still open")
    }

    private func isRungFromOutside() {
        doorbell.didRing()
    }

    private static func of(_ bell: UnsafeMutablePointer<uv_async_t>?) -> EventLoop? {
        guard let data = unsafe bell?.pointee.loop?.pointee.data else { return nil }
        return unsafe Unmanaged<EventLoop>.fromOpaque(data).takeUnretainedValue()
    }
}

// MARK: - Turns

extension EventLoop {
    /// Runs turns until ``stop()`` or ``LoopHandle/stop()``.
    ///
    /// A stop before this call makes it return before the first turn; each stop ends one run.
    public func run() {
        while !doorbell.stopRequest.take() {
            turn(.wait)
        }
    }

    /// Ends ``run()`` after this turn. *Owner*: the loop's thread; other threads use the handle's.
    public func stop() {
        handle.stop()
    }

    /// Makes one turn: timers, I/O callbacks, posted jobs, then ``onTurnEnd``.
    ///
    /// *Place*: for a client that steps its loop instead of giving it a thread.
    /// *Traps*: inside a turn, and on a closed loop. *C*: `uv_run`.
    public func turn(_ mode: TurnMode) {
        precondition(!isTurning, "a loop cannot be turned from inside its own turn")
        precondition(!isClosed, "a closed loop cannot be turned")
        isTurning = true
        doorbell.beginTurn()
        runEndings()
        if activity.isTurnAsked {
            // A peer that was just written to may have its next request ready.
            sched_yield()
            pass(UV_RUN_NOWAIT)
        } else if mode == .noWait || doorbell.isRung {
            pass(UV_RUN_NOWAIT)
        } else if !turnForExpected(), !poll() {
            pass(UV_RUN_ONCE)
        }
        doorbell.endTurn()
        isTurning = false
    }

    /// Makes the next turn check for events without waiting, and end normally even without events.
    ///
    /// *Place*: for work that exceeds one turn, and must not delay other connections.
    package func turnAgain() { activity.isTurnAsked = true }

    /// Polls while traffic is likely to come soon. Returns whether any came.
    private func poll() -> Bool {
        guard let deadline = polling.value.spin.deadline else { return false }
        var now = uv_hrtime()
        guard now < deadline else { return false }
        let share = polling.value.processors.share(at: now)
        guard share != .theOnly else { return false }
        repeat {
            if turnForExpected() || pass(UV_RUN_NOWAIT) { return true }
            let before = uv_hrtime()
            // The awaited peer may need this processor.
            sched_yield()
            now = uv_hrtime()
            polling.value.spin.noteYield(
                taking: now &- before, at: now, onlyProcessor: share == .oneOfSeveral)
        } while now < min(deadline, polling.value.spin.deadline ?? 0)
        return false
    }

    /// Makes one pass of libuv's loop. Returns whether any event happened.
    @discardableResult
    private func pass(_ mode: uv_run_mode) -> Bool {
        beginPass()
        expectation.turnCount = 0
        unsafe uv_run(raw, mode)
        return endPass()
    }

    func beginPass() {
        turns &+= 1
        activity = Activity(isActive: activity.isTurnAsked)
    }

    /// Runs jobs and endings after the callbacks of a pass. Returns whether any event happened.
    @discardableResult
    private func endPass() -> Bool {
        if doorbell.isRung { runJobs() }
        guard activity.isActive else { return false }
        if activity.hasTraffic, polling.value.spin.limit > 0 {
            polling.value.spin.noteTraffic(at: uv_hrtime())
        }
        callbacks.turnEnd?()
        runEndings()
        return true
    }

    /// Runs the jobs posted so far, and those that these post, in at most ``jobRoundsMax`` rounds.
    ///
    /// A task posts a job wherever it enters a function of its executor, and all of them belong to
    /// one turn. The limit bounds how long jobs that always post others can delay the sockets.
    private func runJobs() {
        let executor = handle.executor
        var rounds = 0
        repeat {
            doorbell.drain(into: &jobs)
            guard !jobs.isEmpty else { return }
            noteTraffic()
            if rounds == 0 { callbacks.jobs?() }
            for job in jobs {
                switch job {
                case .call(let body): body()
                case .swift(let job): executor.run(job)
                }
            }
            jobs.removeAll(keepingCapacity: true)
            rounds += 1
        } while doorbell.isRung && rounds < Self.jobRoundsMax
    }

    /// Rounds of jobs in one turn.
    private static let jobRoundsMax = 16
}

// MARK: - The end of a turn

extension EventLoop {
    /// Lists `work` to run once at the end of this turn. Called between two turns, it runs at the
    /// beginning of the next one, before that waits.
    ///
    /// *Place*: for objects that share a loop; only listed ones are called.
    /// *Owner*: the loop's thread.
    package func atTurnEnd(_ work: any TurnEnding) { endings.value.listed.append(work) }

    /// Runs the listed work, and the work that this lists in turn.
    @inline(__always)
    private func runEndings() {
        if !endings.value.listed.isEmpty { runListedEndings() }
    }

    private func runListedEndings() {
        while !endings.value.listed.isEmpty {
            var work = endings.value.take()
            for ending in work { ending.endTurn() }
            // Releasing these objects may list others; no access is open here.
            work.removeAll(keepingCapacity: true)
            endings.value.spare = work
        }
    }
}

// MARK: - Expected input

extension EventLoop {
    /// Hints that `connection` is likely to have input next: turns read from it first.
    ///
    /// This saves the system call that asks the kernel which descriptors are ready. A read without
    /// input costs about a quarter of a microsecond, so `nil` removes the hint. At most
    /// ``expectedReadsMax`` turns in a row serve that connection alone.
    package func expectInput(from connection: Connection?) { expectation.connection = connection }

    /// Removes the hint if it names `connection`.
    func expectNoInput(from connection: Connection) {
        if expectation.connection === connection { expectation.connection = nil }
    }

    /// Turns in a row that serve the expected connection before the others are checked.
    static let expectedReadsMax = 16

    /// Makes a turn with the expected connection's input. Returns false if there is none.
    private func turnForExpected() -> Bool {
        // Only a pass over all connections resets the counter.
        guard let connection = expectation.connection,
            expectation.turnCount < Self.expectedReadsMax
        else { return false }
        guard connection.readNow() else { return false }
        expectation.turnCount += 1
        endPass()
        return true
    }

    /// The connection that is likely to have input next.
    struct Expectation {
        var connection: Connection?
        /// Number of turns in a row that served the connection alone.
        var turnCount = 0
    }

    /// The events of the current pass, and a request for the next turn.
    private struct Activity {
        /// Whether a callback ran, so that the turn has an end.
        var isActive = false
        var hasTraffic = false
        /// Whether the next turn must not wait.
        var isTurnAsked = false
    }

    /// The state that decides about polling between two messages.
    private struct Polling {
        var spin: SpinGovernor
        var processors: ProcessorCount
    }
}

extension Duration {
    /// The whole nanoseconds, from 0 to `UInt64.max`.
    var nanoseconds: UInt64 {
        let (seconds, attoseconds) = components
        guard seconds >= 0, attoseconds >= 0 else { return 0 }
        let (whole, overflow) = UInt64(seconds).multipliedReportingOverflow(by: 1_000_000_000)
        return overflow ? .max : whole &+ UInt64(attoseconds / 1_000_000_000)
    }
}
