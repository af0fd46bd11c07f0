import ReactorWire

/// Sends many actions to one node.
///
/// *Owner*: one task at a time; the actions apply in the order of the calls.
package final class Pipeline {
    private let port: ActionPort
    private let hold: NodeHold
    private let awaitsEffects: Bool
    private let report: @Sendable (UInt64, ActionOutcome) -> Void
    /// Number of actions sent so far.
    package private(set) var count: UInt64 = 0

    init(
        _ port: ActionPort, _ hold: NodeHold, awaitsEffects: Bool,
        _ report: @escaping @Sendable (UInt64, ActionOutcome) -> Void
    ) {
        self.port = port
        self.hold = hold
        self.awaitsEffects = awaitsEffects
        self.report = report
    }

    /// Sends encoded actions after the earlier ones, each as soon as there is room for it.
    ///
    /// *Throws*: if the client ends or the task is cancelled; ``count`` is the number of actions
    /// sent.
    package func send(_ actions: [[UInt8]]) async throws(ClientError) {
        var rest = actions[...]
        while !rest.isEmpty {
            let portion = rest.prefix(port.portion(of: rest))
            let first = count
            let report = report
            let outgoing = portion.map { bytes in
                var action = OutgoingAction(encoded: bytes, to: hold.node)
                action.awaitsEffects = awaitsEffects
                return action
            }
            try await port.send(outgoing) { [hold] index, outcome in
                hold.keep()
                report(first + UInt64(index), outcome)
            }
            count += UInt64(portion.count)
            rest = rest[portion.endIndex...]
        }
    }
}
