public import ReactorBytes
public import ReactorCore
public import ReactorWire

/// A socket, as the server names it; never used twice while the daemon runs.
public struct ConnectionID: Hashable, Sendable {
    public let rawValue: UInt64

    /// Names the socket with this number.
    public init(_ rawValue: UInt64) { self.rawValue = rawValue }
}

/// Who is at the other end of a socket, as the kernel says (`SO_PEERCRED`).
public struct Peer: Equatable, Sendable {
    /// The user.
    public var uid: UInt32
    /// The group.
    public var gid: UInt32
    /// The process.
    public var pid: Int32

    /// Names a peer.
    public init(uid: UInt32, gid: UInt32, pid: Int32) {
        self.uid = uid
        self.gid = gid
        self.pid = pid
    }
}

/// An order from the server to its shell.
public enum ServerOutput: Sendable {
    /// Write these bytes, in one vectored write; then say ``Server/written(_:at:)``.
    case write(ConnectionID, ByteSlices)
    /// Stop reading until told otherwise.
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
    /// Tell the operator.
    case log(ServerEvent)
    /// Close every connection at once, and end another turn: another epoch has begun, and clients
    /// come back to it.
    case cutConnections
    /// Answer a question about the past; then say ``Server/answer(_:with:at:)``.
    case inquire(Inquiry)
}

/// Something that an operator may want to know.
///
/// A peer's fault of one kind comes at most once in ``ServerLimits/logInterval``. `leftOut` says
/// how many events of whatever kind were left out since the one before.
public enum ServerEvent: Sendable, Equatable {
    /// A peer sent what it must not, or took too long; it was told and closed.
    case closedForFault(ConnectionID, Peer, FaultCode, String, leftOut: UInt64)
    /// A connection was turned away at the door.
    case turnedAway(Peer, String, leftOut: UInt64)
    /// A client knows a revision or an outcome that the history does not hold: its tail was lost,
    /// or an older copy was put in its place. A new epoch begins.
    case contradicted(Peer, String)
    /// Something in the tree went wrong without a caller to tell.
    case complaint(String, leftOut: UInt64)
}
