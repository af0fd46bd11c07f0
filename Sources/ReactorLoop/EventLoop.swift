import CLibUV
import Glibc
import ReactorBytes
import ReactorThreads

/// One libuv loop, with its passes made visible as turns.
///
/// *Place*: the floor of the daemon and of the client. Sockets, timers and signals call back from
/// it; other threads reach it through ``handle``.
///
/// A turn is: timers, I/O callbacks, then posted jobs, then ``onTurnEnd``, where the outputs of
/// everything that arrived leave together. Only then does it wait again.
///
/// *Owner*: not Sendable; it belongs to the thread that turns it. It may be made on one thread and
/// handed to another before its first turn.
@safe
public final class EventLoop {
    /// Bytes that one read may bring, and the size of the buffer all connections share.
    public static let readBytesMax = 65_536

    /// Runs at the end of every turn in which anything happened, before the loop waits again.
    public var onTurnEnd: (() -> Void)?
    /// The loop as other threads may use it.
    public let handle: LoopHandle
    /// Number of turns so far, empty ones included.
    public internal(set) var turnCount: UInt64 = 0
    /// Whether ``close()`` was called.
    public private(set) var isClosed = false

    let raw: UnsafeMutablePointer<uv_loop_t>
    let readBuffer: UnsafeMutablePointer<CChar>
    // because a vectored write is done before the call returns, one vector serves all connections
    let vector: UnsafeMutablePointer<uv_buf_t>
    /// Slices that one system call writes; more take another. The system's own limit, `IOV_MAX`.
    static let vectorCountMax = 1_024

    let doorbell = LoopDoorbell()
    var isTurning = false
    var isActive = false
    /// Who is likely to have input next.
    var expected: Connection?
    /// Turns in a row that served ``expected`` alone.
    var expectedReads = 0
    /// Whether the next turn is not to wait.
    var isTurnAsked = false
    var hasTraffic = false
    var spin: SpinGovernor
    var processors = ProcessorCount()
    var jobs: [LoopJob] = []
    /// Who has something to do at the end of the turn.
    let endings = Place(TurnEndings())
    private let bell: UnsafeMutablePointer<uv_async_t>

    /// Opens a loop.
    ///
    /// `spin` is for how long to poll after traffic before going to sleep; zero, the default, means
    /// never. It is ignored where polling takes the processor from somebody who has work for it.
    ///
    /// *Throws*: when the system has no descriptor left. *C*: `uv_loop_init`, `uv_async_init`.
    public init(spin: Duration = .zero) throws(LoopError) {
        BrokenPipe.ignore()
        // libuv ends the process where it closes a descriptor of 0 to 2.
        StandardStream.openMissing()
        unsafe raw = .allocate(capacity: 1)
        unsafe bell = .allocate(capacity: 1)
        unsafe readBuffer = .allocate(capacity: Self.readBytesMax)
        unsafe vector = .allocate(capacity: Self.vectorCountMax)
        self.spin = SpinGovernor(limit: spin.nanoseconds)
        handle = LoopHandle(doorbell)

        var code = unsafe uv_loop_init(raw)
        if code == 0 {
            code = unsafe uv_async_init(raw, bell) { unsafe EventLoop.of($0)?.isRungFromOutside() }
            if code != 0 { unsafe uv_loop_close(raw) }
        }
        guard code == 0 else {
            isClosed = true
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

    /// Monotonic time in nanoseconds, from an arbitrary origin. *C*: `uv_hrtime`.
    public var now: UInt64 { uv_hrtime() }

    /// Runs `job` in this turn, or in the next when jobs are running already.
    @discardableResult
    public func post(_ job: @escaping @Sendable () -> Void) -> Bool {
        handle.post(job)
    }

    /// Closes everything open on the loop, runs the last callbacks, and frees it.
    ///
    /// Jobs posted before still run; afterwards `post` answers false. *Traps*: inside a turn.
    public func close() {
        guard !isClosed else { return }
        precondition(!isTurning, "a loop cannot be closed from inside its own turn; stop it first")
        isTurning = true
        doorbell.turning.enter()
        // because a late job must not start in the middle of one that runs here
        handle.executor.holdLateJobs()
        doorbell.close()
        runJobs()
        handle.executor.releaseLateJobs()
        isClosed = true
        onTurnEnd = nil
        _ = endings.value.take()
        closeResources()
        doorbell.turning.leave()
        isTurning = false
    }

    /// Says that a callback of ours ran, so that this turn has an end worth telling.
    func noteActivity() {
        isActive = true
    }

    /// Says that bytes, connections or jobs came, after which more may come soon.
    func noteTraffic() {
        isActive = true
        hasTraffic = true
    }

    /// Refuses to open `subject` on a closed loop.
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
        // because each pass runs the close callbacks of the one before, until none is left
        while unsafe uv_run(raw, UV_RUN_DEFAULT) != 0 {}
        let code = unsafe uv_loop_close(raw)
        precondition(code == 0, "uv_loop_close answered \(code): a handle is still open")
    }

    private func isRungFromOutside() {
        doorbell.isRung = true
    }

    private static func of(_ bell: UnsafeMutablePointer<uv_async_t>?) -> EventLoop? {
        guard let data = unsafe bell?.pointee.loop?.pointee.data else { return nil }
        return unsafe Unmanaged<EventLoop>.fromOpaque(data).takeUnretainedValue()
    }
}

extension Duration {
    /// The whole nanoseconds in it, from 0 to `UInt64.max`.
    var nanoseconds: UInt64 {
        let (seconds, attoseconds) = components
        guard seconds >= 0, attoseconds >= 0 else { return 0 }
        let (whole, overflow) = UInt64(seconds).multipliedReportingOverflow(by: 1_000_000_000)
        return overflow ? .max : whole &+ UInt64(attoseconds / 1_000_000_000)
    }
}
