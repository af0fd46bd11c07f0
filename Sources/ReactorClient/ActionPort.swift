import Glibc
import ReactorCore
import ReactorThreads

/// The way from any thread to a client's own isolation; the client ends when nobody holds it.
package final class ActionPort: Sendable {
    private let shell: PortShell
    private let room: ActionRoom
    private let hasEnded = Flag()
    private let pid = getpid()
    private let isForked: @Sendable () -> Bool

    /// Makes a port to the client in `shell`, for as many bytes of actions as its `options` say; its
    /// thread is there unless `isForked` says so.
    package init(
        _ shell: PortShell, _ options: ClientOptions, isForked: @escaping @Sendable () -> Bool
    ) {
        self.shell = shell
        room = ActionRoom(bytesMax: options.queueBytesMax)
        self.isForked = isForked
    }

    /// Where inputs of the client's mirrors run; where any task runs, if there is none.
    var executor: (any TaskExecutor)? { shell.executor }

    deinit { end() }

    /// Runs `job` on the client's isolation, and has its shell send what comes of it; answers false
    /// if that has ended or is not there.
    func post(_ job: @escaping @Sendable (ClientMachine) -> Void) -> Bool {
        // because in a forked process the queue and its lock are copies that nobody serves
        if isForked() || hasEnded.isUp { return false }
        return shell.post(job)
    }

    /// Why nothing can be posted, where that is so.
    var refusal: ClientError { isForked() ? .forked(pid: pid) : .ended }

    /// Refuses a client that has ended, or that is of another process.
    func check() throws(ClientError) {
        if isForked() || hasEnded.isUp { throw refusal }
    }

    /// Ends the client, after what was posted before; what is posted later is refused.
    package func end() {
        guard !isForked(), !hasEnded.isUp else { return }
        shell.end()
        hasEnded.raise()
    }

    /// Has the daemon say how far it is.
    func ping() async throws(ClientError) {
        try await ask { client, then in client.ping(then: then) }
    }

    /// Asks something of the client on its thread, and waits for the answer.
    func ask<Value: Sendable>(
        _ body:
            @escaping @Sendable (
                ClientMachine, @escaping (Result<Value, ClientError>) -> Void
            ) -> Void
    ) async throws(ClientError) -> Value {
        let answer = OneAnswer<Result<Value, ClientError>>()
        let isPosted = post { client in
            body(client) { answer.give($0) }
        }
        if !isPosted { throw refusal }
        return try await answer.wait(cancelled: .failure(.cancelled)).get()
    }
}

/// Where a client lives, as its ``ActionPort`` sees it.
package struct PortShell: Sendable {
    /// Runs a job on the client's isolation, in the order of the calls, and sends what comes of it;
    /// answers false where that has ended.
    let post: @Sendable (@escaping @Sendable (ClientMachine) -> Void) -> Bool
    /// Ends the client, after what was posted before.
    let end: @Sendable () -> Void
    /// Where tasks of the client's run; where any task runs, if there is none.
    let executor: (any TaskExecutor)?

    /// Makes a shell of the ways in.
    package init(
        executor: (any TaskExecutor)? = nil,
        post: @escaping @Sendable (@escaping @Sendable (ClientMachine) -> Void) -> Bool,
        end: @escaping @Sendable () -> Void
    ) {
        self.executor = executor
        self.post = post
        self.end = end
    }
}

// MARK: - Actions
extension ActionPort {
    /// Bytes that an action takes of the room.
    private func byteCount(_ action: Int, _ conditions: DispatchOptions? = nil) -> Int {
        FrameHeader.byteCount + action + (conditions?.wireBytes().count ?? 0)
    }

    /// Sends an action on the client's thread; it settles the action's preview.
    typealias Submission =
        @Sendable (
            ClientMachine, @escaping (ActionOutcome) -> Void
        ) throws(ClientError) -> Void

    /// Sends an action of so many bytes and waits for nothing; answers false if there is no room for
    /// it.
    ///
    /// `submit` settles `ticket` where it is called; this does so where it is not.
    func send(
        _ actionByteCount: Int, _ conditions: DispatchOptions?,
        preview ticket: PreviewTicket? = nil, _ submit: @escaping Submission
    ) -> Bool {
        let isSent = post(byteCount(actionByteCount, conditions), submit)
        if !isSent { ticket?.settle() }
        return isSent
    }

    private func post(_ byteCount: Int, _ submit: @escaping Submission) -> Bool {
        // because in a forked process the room's lock is a copy that somebody may hold for ever
        guard !isForked(), room.tryEnter(byteCount) else { return false }
        let room = room
        let isPosted = post { client in
            do throws(ClientError) {
                try submit(client) { _ in room.leave(byteCount) }
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
        preview ticket: PreviewTicket? = nil, _ submit: @escaping Submission
    ) async -> ActionOutcome {
        do throws(ClientError) {
            return try await outcome(byteCount(actionByteCount, conditions), submit)
        } catch {
            ticket?.settle()
            return .failed(message: "never sent: \(error)")
        }
    }

    private func outcome(
        _ byteCount: Int, _ submit: @escaping Submission
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
            } catch {
                room.leave(byteCount)
                answer.give(.failed(message: "never sent: \(error)"))
            }
        }
        guard isPosted else {
            room.leave(byteCount)
            throw refusal
        }
        return await answer.wait(cancelled: .unknown(.cancelled))
    }
}
