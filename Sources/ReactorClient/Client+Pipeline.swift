import ReactorWire

// MARK: - Many actions
extension Client {
    /// Opens a way to send many actions to the node at `path`, in order and without waiting for
    /// each.
    ///
    /// `report` is called on the client's thread with the number of each action, from 0, and its
    /// outcome; with `awaitsEffects`, when the action's effects have ended.
    public func pipeline(
        _ path: String, awaitsEffects: Bool = false,
        report: @escaping @Sendable (UInt64, ActionOutcome) -> Void
    ) async throws(ClientError) -> Pipeline {
        Pipeline(port, try await node(at: path), awaitsEffects: awaitsEffects, report)
    }
}

/// Sends many actions to one node.
///
/// *Owner*: one task at a time, for the order of the actions is that of the calls.
public final class Pipeline {
    private let port: ActionPort
    private let hold: NodeHold
    private let awaitsEffects: Bool
    private let report: @Sendable (UInt64, ActionOutcome) -> Void
    /// Number of actions sent so far.
    public private(set) var count: UInt64 = 0

    init(
        _ port: ActionPort, _ hold: NodeHold, awaitsEffects: Bool,
        _ report: @escaping @Sendable (UInt64, ActionOutcome) -> Void
    ) {
        self.port = port
        self.hold = hold
        self.awaitsEffects = awaitsEffects
        self.report = report
    }

    /// Sends encoded actions behind those before, as room comes for them.
    ///
    /// *Throws*: where the client ends or the task is cancelled; ``count`` says how many were sent.
    public func send(_ actions: [[UInt8]]) async throws(ClientError) {
        var rest = actions[...]
        while !rest.isEmpty {
            let portion = rest.prefix(port.portion(of: rest))
            let first = count
            let report = report
            try await port.send(
                portion, to: hold.node, awaitsEffects: awaitsEffects
            ) { [hold] index, outcome in
                hold.keep()
                report(first + UInt64(index), outcome)
            }
            count += UInt64(portion.count)
            rest = rest[portion.endIndex...]
        }
    }
}
