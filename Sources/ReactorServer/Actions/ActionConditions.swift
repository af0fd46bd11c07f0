import ReactorBytes
import ReactorCore
import ReactorWire

/// Checks the conditions under which a client wants its action to be carried out.
///
/// *Place*: the ``Dispatcher`` asks it about actions with options. It has no state.
struct ActionConditions {
    let tree: Tree
    let orders: ShellOrders
    let chronicle: Chronicle

    /// Reads the options before an action or a batch, if the frame has any.
    static func options(
        of header: FrameHeader, _ body: Span<UInt8>
    ) throws(StepFailure) -> (value: DispatchOptions, byteCount: Int)? {
        guard header.flags.contains(.options) else { return nil }
        var cursor = WireCursor()
        do throws(WireError) {
            let options = try DispatchOptions.decode(body, &cursor)
            return (options, cursor.offset)
        } catch {
            throw .decode(error.inside("options"))
        }
    }

    /// Checks the conditions of an action. Returns the name that cancels its effects.
    func check(
        _ options: DispatchOptions, of node: AnyNode, _ connection: Connection
    ) throws(StepFailure) -> String? {
        if let expected = options.expected {
            // The node's revision may be that of a node below which is hidden.
            if let access = connection.access, access.view(of: node) != nil {
                orders.stats.countDenial(of: .read)
                throw .rejected(
                    Rejection(Refusal(partial: "a condition on its revision", at: node.path)))
            }
            try check(expected, of: node)
        }
        if options.ack == .durable {
            guard chronicle.keepsHistory else {
                throw .rejected(
                    Rejection(
                        .history,
                        "the daemon keeps its state in memory: configure `data:` to be durable"
                    ))
            }
            chronicle.requireDurability()
        }
        let heldFor = connection.inlet.value.heldFor
        if let deadline = options.deadline, heldFor >= UInt64(deadline) * 1_000_000 {
            throw .rejected(
                Rejection(
                    .deadline,
                    "the action waited \(heldFor / 1_000_000) ms, its deadline is \(deadline) ms"
                ))
        }
        return options.cancel
    }

    private func check(_ expected: Revision, of node: AnyNode) throws(StepFailure) {
        let actual = Revision(epoch: tree.turn.epoch, sequence: node.sequence)
        // A client that saw the tree at a revision later than the node's last change saw the node
        // as it is now.
        guard expected.epoch == actual.epoch, expected.sequence >= actual.sequence,
            expected.sequence <= tree.turn.sequence
        else {
            throw .rejected(
                Rejection(
                    .conflict, "\(node.path) changed at revision \(actual), not \(expected)"))
        }
    }
}
