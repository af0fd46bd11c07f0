import Glibc
import ReactorCore
import ReactorLoop
import ReactorThreads

/// The way from any thread to a client's own thread; the client ends when nobody holds it.
final class ActionPort: Sendable {
    let handle: LoopHandle
    let core: Confined<LoopClient>
    private let room: ActionRoom
    private let hasEnded = Flag()
    private let pid = getpid()
    private let isForked: @Sendable () -> Bool

    /// Makes a port to `core`, whose thread is there unless `isForked` says so.
    init(_ core: LoopClient, isForked: @escaping @Sendable () -> Bool) {
        handle = core.loop.handle
        room = ActionRoom(bytesMax: core.machine.options.queueBytesMax)
        self.core = Confined(core)
        self.isForked = isForked
    }

    deinit { end() }

    /// Runs `job` on the client's thread; answers false if that has ended or is not there.
    func post(_ job: @escaping @Sendable (LoopClient) -> Void) -> Bool {
        // because in a forked process the queue and its lock are copies that nobody serves
        if isForked() || hasEnded.isUp { return false }
        let core = core
        return handle.post { job(core.open()) }
    }

    /// Why nothing can be posted, where that is so.
    var refusal: ClientError { isForked() ? .forked(pid: pid) : .ended }

    /// Refuses a client that has ended, or that is of another process.
    func check() throws(ClientError) {
        if isForked() || hasEnded.isUp { throw refusal }
    }

    /// Ends the client, after what was posted before; what is posted later is refused.
    func end() {
        _ = post { client in
            client.close()
            client.loop.stop()
        }
        if !isForked() { hasEnded.raise() }
    }

    /// Has the daemon say how far it is.
    func ping() async throws(ClientError) {
        try await ask { client, then in client.ping(then: then) }
    }

    /// Asks something of the client on its thread, and waits for the answer.
    func ask<Value: Sendable>(
        _ body:
            @escaping @Sendable (
                LoopClient, @escaping (Result<Value, ClientError>) -> Void
            ) -> Void
    ) async throws(ClientError) -> Value {
        let answer = OneAnswer<Result<Value, ClientError>>()
        let isPosted = post { client in
            body(client) { answer.give($0) }
            client.note()
        }
        if !isPosted { throw refusal }
        return try await answer.wait(cancelled: .failure(.cancelled)).get()
    }
}

// MARK: - Actions
extension ActionPort {
    /// Bytes that an action takes of the room.
    private func byteCount(_ action: Int, _ conditions: DispatchOptions? = nil) -> Int {
        FrameHeader.byteCount + action + (conditions?.wireBytes().count ?? 0)
    }

    /// Sends an action and waits for nothing; answers false if there is no room for it.
    func send(
        _ action: [UInt8], to node: NodeID, _ conditions: DispatchOptions? = nil,
        preview ticket: PreviewTicket? = nil,
        then report: @escaping @Sendable (ActionOutcome) -> Void = { _ in }
    ) -> Bool {
        let isSent = post(action, to: node, conditions, ticket, report)
        if !isSent { ticket?.settle() }
        return isSent
    }

    private func post(
        _ action: [UInt8], to node: NodeID, _ conditions: DispatchOptions?,
        _ ticket: PreviewTicket?, _ report: @escaping @Sendable (ActionOutcome) -> Void
    ) -> Bool {
        let byteCount = byteCount(action.count, conditions)
        // because in a forked process the room's lock is a copy that somebody may hold for ever
        guard !isForked(), room.tryEnter(byteCount) else { return false }
        let room = room
        let isPosted = post { client in
            do throws(ClientError) {
                try client.dispatch(
                    encoded: action.span, to: node, conditions, preview: ticket
                ) { outcome in
                    room.leave(byteCount)
                    report(outcome)
                }
            } catch {
                room.leave(byteCount)
            }
        }
        if !isPosted { room.leave(byteCount) }
        return isPosted
    }

    /// How many of `actions` are sent at once, so that others get room as well: at least one.
    func portion(of actions: ArraySlice<[UInt8]>) -> Int {
        var total = 0
        let end = actions.firstIndex { action in
            total += byteCount(action.count)
            return total > room.bytesMax / 4
        }
        return max(1, (end ?? actions.endIndex) - actions.startIndex)
    }

    /// Sends actions in order once there is room for all of them, and waits for no outcome.
    ///
    /// *Throws*: if the client has ended or the task is cancelled before; then none was sent.
    func send(
        _ actions: ArraySlice<[UInt8]>, to node: NodeID, awaitsEffects: Bool = false,
        then report: @escaping @Sendable (_ index: Int, ActionOutcome) -> Void
    ) async throws(ClientError) {
        try check()
        let byteCounts = actions.map { byteCount($0.count) }
        let total = byteCounts.reduce(0, +)
        guard await room.enter(total) else { throw .cancelled }
        let room = room
        let isPosted = post { client in
            for (index, action) in actions.enumerated() {
                let conclude: @Sendable (ActionOutcome) -> Void = { outcome in
                    room.leave(byteCounts[index])
                    report(index, outcome)
                }
                do throws(ClientError) {
                    if awaitsEffects {
                        try client.perform(encoded: action.span, to: node, then: conclude)
                    } else {
                        try client.dispatch(encoded: action.span, to: node, then: conclude)
                    }
                } catch {
                    room.leave(byteCounts[index])
                    report(index, .failed(message: "never sent: \(error)"))
                }
            }
            client.note()
        }
        guard isPosted else {
            room.leave(total)
            throw refusal
        }
    }

    /// Sends an action of so many bytes once there is room, and waits for its outcome.
    ///
    /// `submit` settles `ticket` where it is called; this does so where it is not.
    func dispatch(
        _ actionByteCount: Int, _ conditions: DispatchOptions?,
        preview ticket: PreviewTicket? = nil,
        _ submit:
            @escaping @Sendable (
                LoopClient, @escaping (ActionOutcome) -> Void
            ) throws(ClientError) -> Void
    ) async -> ActionOutcome {
        do throws(ClientError) {
            return try await outcome(byteCount(actionByteCount, conditions), submit)
        } catch {
            ticket?.settle()
            return .failed(message: "never sent: \(error)")
        }
    }

    private func outcome(
        _ byteCount: Int,
        _ submit:
            @escaping @Sendable (
                LoopClient, @escaping (ActionOutcome) -> Void
            ) throws(ClientError) -> Void
    ) async throws(ClientError) -> ActionOutcome {
        try check()
        guard await room.enter(byteCount) else { throw .cancelled }
        let answer = OneAnswer<ActionOutcome>()
        let room = room
        let isPosted = post { client in
            do throws(ClientError) {
                try submit(client) { outcome in
                    room.leave(byteCount)
                    answer.give(outcome)
                }
                client.note()
            } catch {
                room.leave(byteCount)
                answer.give(.failed(message: "never sent: \(error)"))
            }
        }
        guard isPosted else {
            room.leave(byteCount)
            throw refusal
        }
        return await answer.wait(cancelled: .unknown)
    }
}
