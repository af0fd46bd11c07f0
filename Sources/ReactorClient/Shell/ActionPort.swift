import Glibc
import ReactorCore
import ReactorThreads

/// Reaches a client's isolation from any thread; the client ends with the last reference to the
/// port.
package final class ActionPort: Sendable {
    private let shell: PortShell
    private let budget: ActionBudget
    private let hasEnded = Flag()
    private let pid = getpid()
    private let isForked: @Sendable () -> Bool

    /// Makes a port to the client in `shell`, with the byte budget of `options`. `isForked` is true
    /// in a forked process, which lacks the client's thread.
    package init(
        _ shell: PortShell, _ options: ClientOptions, isForked: @escaping @Sendable () -> Bool
    ) {
        self.shell = shell
        budget = ActionBudget(bytesMax: options.queueBytesMax)
        self.isForked = isForked
    }

    /// The executor of mirrors' action inputs; `nil` for the default executor.
    var executor: (any TaskExecutor)? { shell.executor }

    deinit { end() }

    /// Runs `job` on the client's isolation, and has the shell send the resulting bytes; returns
    /// false if the client has ended or belongs to another process.
    func post(_ job: @escaping @Sendable (ClientMachine) -> Void) -> Bool {
        // In a forked process the queue and its lock are copies, and no thread serves them.
        if isForked() || hasEnded.isUp { return false }
        return shell.post(job)
    }

    /// The error for a job that could not be posted.
    var refusal: ClientError { isForked() ? .forked(pid: pid) : .ended }

    /// Throws if the client has ended or belongs to another process.
    func check() throws(ClientError) {
        if isForked() || hasEnded.isUp { throw refusal }
    }

    /// Ends the client, after the jobs posted before; later jobs are refused.
    package func end() {
        guard !isForked(), !hasEnded.isUp else { return }
        shell.end()
        hasEnded.raise()
    }

    /// Pings the daemon, whose answer brings the client up to date.
    func ping() async throws(ClientError) {
        try await ask { client, then in client.ping(then: then) }
    }

    /// Runs a question on the client's isolation, and waits for the answer.
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

/// The shell of a client, as its ``ActionPort`` uses it.
package struct PortShell: Sendable {
    /// Runs a job on the client's isolation, in the order of the calls, and sends the resulting
    /// bytes; returns false if the client has ended.
    let post: @Sendable (@escaping @Sendable (ClientMachine) -> Void) -> Bool
    /// Ends the client, after the jobs posted before.
    let end: @Sendable () -> Void
    /// The executor of the client's tasks; `nil` for the default executor.
    let executor: (any TaskExecutor)?

    /// Makes a shell of the functions that reach the client.
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
    /// Submits an action with a completion on the client's isolation; it ends the action's preview.
    typealias Submission =
        @Sendable (
            ClientMachine, OutgoingAction, @escaping (ActionOutcome) -> Void
        ) throws(ClientError) -> Void

    /// Submits an action without further steps.
    static let plainly: Submission = { (client, action, then) throws(ClientError) in
        try client.submit(action, then: then)
    }

    /// Sends an action without waiting; returns false if the budget has no room for it, or the
    /// client has ended. `held` is kept until the outcome arrives.
    func send(
        _ action: OutgoingAction, holding held: any Sendable,
        by submission: @escaping Submission = plainly
    ) -> Bool {
        let byteCount = action.byteCount
        // In a forked process the budget's lock is a copy that may stay locked forever.
        guard !isForked(), budget.tryReserve(byteCount) else {
            action.preview?.settle()
            return false
        }
        let budget = budget
        let isPosted = post { client in
            do throws(ClientError) {
                try submission(client, action) { _ in
                    withExtendedLifetime(held) { budget.release(byteCount) }
                }
            } catch {
                budget.release(byteCount)
            }
        }
        if !isPosted {
            action.preview?.settle()
            budget.release(byteCount)
        }
        return isPosted
    }

    /// Sends an action once the budget has room, and waits for its outcome. `held` is kept until
    /// the outcome arrives.
    func dispatch(
        _ action: OutgoingAction, holding held: any Sendable,
        by submission: @escaping Submission = plainly
    ) async -> ActionOutcome {
        do throws(ClientError) {
            return try await outcome(of: action, held, submission)
        } catch {
            action.preview?.settle()
            return .failed(message: "never sent: \(error)")
        }
    }

    private func outcome(
        of action: OutgoingAction, _ held: any Sendable, _ submission: @escaping Submission
    ) async throws(ClientError) -> ActionOutcome {
        try check()
        let byteCount = action.byteCount
        guard await budget.reserve(byteCount) else { throw .cancelled }
        let answer = OneAnswer<ActionOutcome>()
        let budget = budget
        let isPosted = post { client in
            do throws(ClientError) {
                try submission(client, action) { outcome in
                    withExtendedLifetime(held) { budget.release(byteCount) }
                    answer.give(outcome)
                }
            } catch {
                budget.release(byteCount)
                answer.give(.failed(message: "never sent: \(error)"))
            }
        }
        guard isPosted else {
            budget.release(byteCount)
            throw refusal
        }
        return await answer.wait(cancelled: .unknown(.cancelled))
    }

    /// The number of `actions` to send at once, leaving room for other callers: at least one.
    func portion(of actions: ArraySlice<[UInt8]>) -> Int {
        var total = 0
        let end = actions.firstIndex { action in
            total += FrameHeader.byteCount + action.count
            return total > budget.bytesMax / 4
        }
        return max(1, (end ?? actions.endIndex) - actions.startIndex)
    }

    /// Sends actions in order once the budget has room for all of them, and does not wait for
    /// outcomes.
    ///
    /// *Throws*: if the client has ended, or the task is cancelled first; no action is sent then.
    func send(
        _ actions: [OutgoingAction],
        then report: @escaping @Sendable (_ index: Int, ActionOutcome) -> Void
    ) async throws(ClientError) {
        try check()
        let byteCounts = actions.map(\.byteCount)
        let total = byteCounts.reduce(0, +)
        guard await budget.reserve(total) else { throw .cancelled }
        let budget = budget
        let isPosted = post { client in
            for (index, action) in actions.enumerated() {
                let byteCount = byteCounts[index]
                do throws(ClientError) {
                    try client.submit(action) { outcome in
                        budget.release(byteCount)
                        report(index, outcome)
                    }
                } catch {
                    budget.release(byteCount)
                    report(index, .failed(message: "never sent: \(error)"))
                }
            }
        }
        guard isPosted else {
            budget.release(total)
            throw refusal
        }
    }

    /// Asks for a state that is as recent as `consistency` demands: see ``Client/sync(_:within:)``.
    func sync(
        _ consistency: ReadConsistency, within limit: Duration
    ) async throws(ClientError) -> Revision {
        try await ask { client, then in client.sync(consistency, within: limit, then: then) }
    }
}
