public import ReactorBytes
public import ReactorCore
public import ReactorWire

/// An order from the server to its shell.
public enum ServerOutput: Sendable {
    /// Write these bytes, in one vectored write; then say ``Server/written(_:at:)``.
    case write(ConnectionID, ByteSlices)
    /// Stop reading until ``resumeReading(_:)``.
    case pauseReading(ConnectionID)
    case resumeReading(ConnectionID)
    /// Close the socket once the kernel has all that was handed to it.
    case close(ConnectionID)
    /// Close the socket at once, whatever waits to be written: the client did not take it in time.
    case cut(ConnectionID)
    /// Make the batch durable; then say ``Server/appended(_:at:)``, in the order of the turns. Where
    /// several became durable at once, the last says it for all of them.
    case append(Batch)
    /// ``Server/snapshot`` has begun, of the batch that was handed over last: gather it bit by bit.
    case beginSnapshot
    /// Look in the journal for what a client missed; then say ``Server/answer(_:with:at:)``.
    case readHistory(HistoryQuestion)
    /// Sum up these states on a thread of the shell's; then say ``Server/summed(_:byteCount:)``.
    case sum(StateProbe)
    /// Encode this on a thread of the shell's; then say ``Server/encoded(_:at:)``. The next one comes
    /// only after that.
    case encode(SliceCapture)
    /// Write to the operator's log.
    case log(ServerEvent)
    /// Close every connection at once, and end another turn: another epoch has begun, and clients
    /// reconnect to it.
    case cutConnections
    /// Answer a question about the past; then say ``Server/answer(_:with:at:)``.
    case inquire(Inquiry)
}

/// An event for the operator's log.
///
/// A peer's fault of one kind is logged at most once in ``ServerLimits/logInterval``. `leftOut` is the
/// number of events of all kinds that were left out since the previous one.
public enum ServerEvent: Sendable, Equatable {
    /// A peer broke the protocol or took too long; its connection was closed with the reason.
    case closedForFault(ConnectionID, Peer, FaultCode, String, leftOut: UInt64)
    /// A connection was turned away.
    case turnedAway(Peer, String, leftOut: UInt64)
    /// A client knows a revision or an outcome that the history does not hold: the end of the history
    /// was lost, or an older copy replaced it. A new epoch begins.
    case contradicted(Peer, String)
    /// A fault in the tree that no caller can be sent.
    case complaint(String, leftOut: UInt64)
}
