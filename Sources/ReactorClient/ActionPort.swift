import ReactorCore
import ReactorLoop
import ReactorThreads

/// The way from any thread to a client's own thread.
final class ActionPort: Sendable {
    let handle: LoopHandle
    let core: Confined<LoopClient>
    private let room: ActionRoom

    init(_ core: LoopClient) {
        handle = core.loop.handle
        room = ActionRoom(bytesMax: core.machine.options.queueBytesMax)
        self.core = Confined(core)
    }

    /// Runs `job` on the client's thread; answers false if that has ended.
    func post(_ job: @escaping @Sendable (LoopClient) -> Void) -> Bool {
        let core = core
        return handle.post { job(core.open()) }
    }

    /// Has the daemon say how far it is.
    func nudge() {
        _ = post { client in client.ping { _ in } }
    }

    /// Sends an action and waits for nothing; answers false if there is no room for it.
    func send(_ action: [UInt8], to node: NodeID) -> Bool {
        let byteCount = action.count + FrameHeader.byteCount
        guard room.tryEnter(byteCount) else { return false }
        let room = room
        return post { client in
            do throws(ClientError) {
                try client.dispatch(encoded: action.span, to: node) { _ in room.leave(byteCount) }
            } catch {
                room.leave(byteCount)
            }
        }
    }

    /// Sends actions in order once there is room for all of them, and waits for none; answers false
    /// if the client has ended or the task is cancelled before.
    func send(
        _ actions: [[UInt8]], to node: NodeID,
        then report: @escaping @Sendable (_ index: Int, ActionOutcome) -> Void
    ) async -> Bool {
        let byteCount = actions.reduce(0) { $0 + $1.count + FrameHeader.byteCount }
        guard await room.enter(byteCount) else { return false }
        let room = room
        let isPosted = post { client in
            for (index, action) in actions.enumerated() {
                let part = action.count + FrameHeader.byteCount
                do throws(ClientError) {
                    try client.dispatch(encoded: action.span, to: node) { outcome in
                        room.leave(part)
                        report(index, outcome)
                    }
                } catch {
                    room.leave(part)
                    report(index, .failed(message: "never sent: \(error)"))
                }
            }
            client.note()
        }
        if !isPosted { room.leave(byteCount) }
        return isPosted
    }

    /// Sends an action once there is room, and waits for its outcome.
    func dispatch(
        _ byteCount: Int,
        _ submit:
            @escaping @Sendable (
                LoopClient, @escaping (ActionOutcome) -> Void
            ) throws(ClientError) -> Void
    ) async -> ActionOutcome {
        let byteCount = byteCount + FrameHeader.byteCount
        guard await room.enter(byteCount) else {
            return .failed(message: "never sent: \(ClientError.cancelled)")
        }
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
        if !isPosted {
            room.leave(byteCount)
            return .failed(message: "never sent: \(ClientError.ended)")
        }
        return await answer.wait(cancelled: .unknown)
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
        if !isPosted { throw .ended }
        return try await answer.wait(cancelled: .failure(.cancelled)).get()
    }
}
