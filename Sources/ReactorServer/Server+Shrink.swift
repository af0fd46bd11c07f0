import ReactorCore
import ReactorWire

// MARK: - A full disk
extension Server {
    /// Carries out an action if it makes the tree smaller.
    func shrink(
        _ header: FrameHeader, _ body: Span<UInt8>, at node: AnyNode, _ connection: Connection,
        _ mayWait: Bool
    ) -> DispatchResult {
        do throws(StepFailure) {
            var (offset, cancel): (Int, String?) = (0, nil)
            if header.flags.contains(.options) {
                (offset, cancel) = try checkConditions(body, of: node, connection)
            }
            let item = Tree.BatchItem(node: node, range: offset..<body.count)
            return shrink([item], body, header.number, cancel, connection, mayWait)
        } catch {
            return .failed(error)
        }
    }

    /// Carries out actions as one transaction if together they make the tree smaller.
    func shrink(
        _ items: [Tree.BatchItem], _ body: Span<UInt8>, _ ordinal: UInt64, _ cancel: String?,
        _ connection: Connection, _ mayWait: Bool
    ) -> DispatchResult {
        let shrunk = tree.transactShrinking(
            items, body, by: connection.caller, ordinal: ordinal, cancel: cancel,
            mayWait: mayWait,
            else: Rejection(
                .diskFull,
                "the daemon's disk is full but for a reserve: it carries out what makes its states "
                    + "smaller, and nothing else until there is room"))
        // To weigh a large state takes its time, and the others are not to wait for it.
        for _ in 0..<min(shrunk.workByteCount >> 14, limits.framesPerTurnMax) {
            countFrame(of: connection)
        }
        shrunkByteCount += shrunk.shrunkByteCount
        return shrunk.result
    }
}
