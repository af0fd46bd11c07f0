import ReactorBytes
import ReactorCore
import ReactorWire

/// Ends connections that exceed a deadline, and sends idle subscribers a mark. It has no state.
///
/// *Place*: ``Server/tick(at:isLate:)`` passes it every connection.
struct ConnectionDeadlines {
    let tree: Tree
    let limits: ServerLimits
    let intake: Intake
    let delivery: Delivery

    /// Checks one connection. `isLate` is true if the process was stopped for some time, so that
    /// input of that time is not read yet.
    func check(_ connection: Connection, at now: UInt64, _ isLate: Bool) {
        if connection.isLeaving {
            // A closing connection that does not read its remaining output.
            if let since = connection.leavingSince, now &- since >= limits.closeDeadline {
                delivery.cut(connection)
            }
        } else if !isLate, connection.isSilent(for: limits.handshakeDeadline, at: now) {
            intake.fail(connection, .timeout, "no hello within the handshake deadline")
        } else if !isLate,
            connection.inlet.value.isOverdue(at: now, after: limits.partialFrameDeadline)
        {
            intake.fail(connection, .timeout, "a frame was begun and not completed in time")
        } else if !connection.subscriptions.isEmpty,
            connection.outlet.value.isMarked(before: tree.turn.sequence),
            !connection.outlet.value.isWriting
        {
            delivery.list(connection)
        }
    }
}
