import ReactorWire

/// Sends many actions to one node, or to several.
///
/// *Owner*: one task at a time; the actions apply in the order of the calls.
package final class Pipeline {
    private let port: ActionPort
    private let holds: [NodeHold]
    private let conditions: DispatchOptions?
    private let awaitsEffects: Bool
    private let report: @Sendable (UInt64, ActionOutcome) -> Void
    /// Number of actions sent so far.
    package private(set) var count: UInt64 = 0

    init(
        _ port: ActionPort, _ holds: [NodeHold], _ conditions: DispatchOptions?,
        awaitsEffects: Bool,
        _ report: @escaping @Sendable (UInt64, ActionOutcome) -> Void
    ) {
        self.port = port
        self.holds = holds
        self.conditions = conditions
        self.awaitsEffects = awaitsEffects
        self.report = report
    }

    /// Sends encoded actions after the earlier ones, each as soon as there is room for it. `nodes`
    /// are the indices of their nodes in the pipeline's paths, by default the first.
    ///
    /// *Throws*: if the client ends or the task is cancelled; ``count`` is the number of actions
    /// sent.
    package func send(
        _ actions: [[UInt8]], to nodes: [Int]? = nil
    ) async throws(ClientError) {
        var rest = actions[...]
        while !rest.isEmpty {
            let portion = rest.prefix(port.portion(of: rest))
            let first = count
            let report = report
            let outgoing = portion.indices.map { index in
                var action = OutgoingAction(
                    encoded: portion[index], to: holds[nodes?[index] ?? 0].node, conditions)
                action.awaitsEffects = awaitsEffects
                return action
            }
            try await port.send(outgoing) { [holds] index, outcome in
                holds.first?.keep()
                report(first + UInt64(index), outcome)
            }
            count += UInt64(portion.count)
            rest = rest[portion.endIndex...]
        }
    }
}
