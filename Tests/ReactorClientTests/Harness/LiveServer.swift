import Dispatch
import Glibc
import ReactorCore
import ReactorLoop
import ReactorServer
import ReactorThreads
import Testing

/// A server of any tree on a real socket and a thread of its own.
///
/// A test can hold back the outputs of its turns, cut its connections, and end it as a crash does.
/// To start another in its place, pass its ``folder``. It ends with the last reference to it.
final class LiveServer: Sendable {
    let folder: SocketFolder
    var path: String { folder.socket }
    private let handle: LoopHandle
    private let core: Confined<LiveServerCore>
    private let thread: WorkThread
    private let isStopped = Flag()

    init(
        in folder: SocketFolder = SocketFolder(), epoch: UInt64 = 7,
        limits: ServerLimits = ServerLimits(), _ root: some Reactor = House()
    ) throws {
        self.folder = folder
        _ = unsafe unlink(folder.socket)
        let core = try LiveServerCore(root, epoch, limits, at: folder.socket)
        handle = core.loop.handle
        let confined = Confined(core)
        self.core = confined
        thread = try WorkThread(name: "live-server") {
            let loop = confined.open().loop
            loop.run()
            loop.close()
        }
    }

    deinit { stop() }

    /// Ends the server at once: each client finds its socket closed.
    func stop() {
        guard !isStopped.isUp else { return }
        isStopped.raise()
        handle.stop()
        thread.join()
    }

    /// Runs `body` on the server's thread.
    func on<Value: Sendable>(
        _ body: @escaping @Sendable (LiveServerCore) -> Value
    ) async -> Value {
        let core = core
        return await withCheckedContinuation { continuation in
            handle.post { continuation.resume(returning: body(core.open())) }
        }
    }

    /// Waits for the end of a turn after which `condition` holds.
    func until(_ condition: @escaping @Sendable (LiveServerCore) -> Bool) async {
        let core = core
        await withCheckedContinuation { continuation in
            handle.post { core.open().wait(for: condition) { continuation.resume() } }
        }
    }

    /// Holds back the outputs of all turns with changes, until ``release()``.
    func hold() async { await on { $0.isHolding = true } }

    /// Releases the outputs that were held back.
    func release() async { await on { $0.release() } }

    /// Closes every connection.
    func cut() async { await on { $0.cut() } }

    /// The number of slices that each connection follows.
    func subscriptionCounts() async -> [Int] { await on { $0.subscriptionCounts } }
}

// MARK: - For tests that turn a loop of their own
extension LiveServer {
    /// Runs `body` on the server's thread while the caller's thread waits.
    func peek<Value: Sendable>(
        _ body: @escaping @Sendable (LiveServerCore) -> Value
    ) -> Value? {
        let answer = Guarded<Value?>(nil)
        let isThere = DispatchSemaphore(value: 0)
        let core = core
        handle.post {
            let value = body(core.open())
            answer.withLock { $0 = value }
            isThere.signal()
        }
        isThere.wait()
        return answer.withLock { $0 }
    }

    /// Calls `call` on the server's thread at the end of a turn after which `condition` holds.
    func notify(
        when condition: @escaping @Sendable (LiveServerCore) -> Bool,
        by call: @escaping @Sendable () -> Void
    ) {
        let core = core
        handle.post { core.open().wait(for: condition, then: call) }
    }

    /// Waits for the end of a turn after which `condition` holds; returns false after 300 s.
    func waits(for condition: @escaping @Sendable (LiveServerCore) -> Bool) -> Bool {
        let isTrue = DispatchSemaphore(value: 0)
        notify(when: condition, by: { isTrue.signal() })
        return isTrue.wait(timeout: .now() + .seconds(300)) == .success
    }
}

extension EventLoop {
    /// Turns until `condition` holds; a watchdog ends a test that would wait forever.
    func turn(
        until condition: () -> Bool, _ location: SourceLocation = #_sourceLocation
    ) throws {
        var isTired = false
        let watchdog = try LoopTimer(on: self)
        watchdog.onFire = { isTired = true }
        watchdog.start(after: .seconds(300))
        // Requests from outside a turn are handled before the first turn, and may be all there is.
        turn(.noWait)
        while !condition(), !isTired { turn(.wait) }
        watchdog.close()
        #expect(condition(), "waited 300 s in vain", sourceLocation: location)
    }
}
