/// An order from the client's machine to its shell.
package enum ClientOutput: Equatable, Sendable {
    /// Open a socket to the daemon; then call ``ClientMachine/connected()`` or
    /// ``ClientMachine/connectFailed(_:)``.
    case connect
    /// Close the socket, after writing the rest of ``ClientMachine/takeOutgoing()``; call nothing.
    case close
    /// Call ``ClientMachine/timerFired()`` after this many nanoseconds; replaces the last timer.
    case setTimer(UInt64)
    case stopTimer
}

/// Bytes for the socket: a range of an array, which the machine keeps in order to send them again.
package struct OutgoingBytes: Sendable {
    /// The array that holds the bytes.
    package let bytes: [UInt8]
    /// The range of the bytes in the array.
    package let range: Range<Int>
}

/// The state of a client's connection to the daemon.
public enum ClientPhase: Equatable, Sendable {
    /// There is no connection now; the client connects, or waits to try again.
    case connecting
    /// Mirrors follow the daemon.
    case live
    /// The mirror follows the daemon's value: the daemon's type of the state, an earlier or a later
    /// version of it, differs from the client's.
    case differing(TypeDifference)
    /// The client or mirror has ended, with this error.
    case failed(ClientError)

    /// True while the state follows the daemon, whether or not the types differ.
    public var isCurrent: Bool {
        switch self {
        case .live, .differing: true
        case .connecting, .failed: false
        }
    }
}
