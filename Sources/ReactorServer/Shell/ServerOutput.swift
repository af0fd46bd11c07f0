package import ReactorBytes
package import ReactorCore
package import ReactorWire

/// An order from the server to its shell.
///
/// *Shape*: rare orders are boxed, so that the frequent ones stay small: every turn moves some.
package enum ServerOutput: Sendable {
    /// Write these bytes, in one vectored write; then call ``Server/written(_:at:)``.
    case write(ConnectionID, ByteSlices)
    /// Stop reading until ``resumeReading(_:)``.
    case pauseReading(ConnectionID)
    case resumeReading(ConnectionID)
    /// Close the socket once the kernel has taken all written bytes.
    case close(ConnectionID)
    /// Close the socket at once, without its waiting output: the client did not read it in time.
    case cut(ConnectionID)
    /// Call ``Server/wake(at:)`` at this time, in nanoseconds, or soon after it.
    case wake(at: UInt64)
    /// Make the batch durable; then call ``Server/appended(_:at:)``, in the order of the turns. If
    /// several became durable together, one call for the last is enough.
    case append(Batch)
    /// ``Server/snapshot`` has begun, after the last batch: gather it in parts.
    case beginSnapshot
    /// Read what a client missed from the journal; then call ``Server/answer(_:with:at:)``.
    indirect case readHistory(HistoryQuestion)
    /// Compute the checksums of these states on another thread; then call
    /// ``Server/summed(_:byteCount:)``.
    indirect case sum(StateProbe)
    /// Encode this on another thread; then call ``Server/encoded(_:at:)``. The next order of this
    /// kind comes only after that.
    indirect case encode(SliceCapture)
    /// Write to the operator's log.
    indirect case log(ServerEvent)
    /// Close every connection at once, and end another turn: another epoch has begun, and clients
    /// reconnect to it.
    case cutConnections
    /// Tell the leading daemon this, if there is a link to it.
    indirect case forward(ForwardRequest)
    /// Tell this to the daemon with the number, if it has a link here.
    indirect case reply(UInt8, ForwardReply)
    /// Learn whether the state is still that of the cluster; then call ``Server/confirm(asOf:confirmed:at:)``.
    case confirm
    /// Answer a question about the past or about the daemon; then call ``Server/answer(_:with:at:)``.
    indirect case inquire(Inquiry)
}

/// An event for the operator's log.
///
/// A peer's fault of one kind is logged at most once in ``ServerLimits/logInterval``. `leftOut` is
/// the number of events of all kinds that were omitted since the last line.
package enum ServerEvent: Sendable, Equatable {
    /// A peer broke the protocol or took too long; its connection was closed for this reason.
    case closedForFault(ConnectionID, Peer, FaultCode, String, leftOut: UInt64)
    /// A connection was refused.
    case turnedAway(Peer, String, leftOut: UInt64)
    /// A client has a revision or an outcome that the history lacks: the end of the history was
    /// lost, or an older copy replaced it. A new epoch begins.
    case contradicted(Peer, String)
    /// A fault in the tree that belongs to no caller.
    case complaint(String, leftOut: UInt64)
}

/// When the shell ends another turn without input.
package enum NextTurn: Sendable {
    /// Not before input arrives.
    case none
    /// At once: the last turn left something to send.
    case now
    /// After a poll of all sockets that does not wait. The turn continues with work for which
    /// the last turn had no time: see ``Server/isSharing``, ``Server/hasHeldInput`` and
    /// ``Server/isCrowded``.
    case afterPoll

    // A comparison in another module would call `==` through the witness table.
    package var isNow: Bool { self == .now }
    package var isAfterPoll: Bool { self == .afterPoll }
}
