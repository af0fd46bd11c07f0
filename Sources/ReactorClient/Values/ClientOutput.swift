/// An order from the client's machine to its shell.
package enum ClientOutput: Equatable, Sendable {
    /// Open a socket to the daemon; then say ``ClientMachine/connected()`` or
    /// ``ClientMachine/connectFailed(_:)``.
    case connect
    /// Close the socket, after what ``ClientMachine/takeOutgoing()`` still has; say nothing.
    case close
    /// Say ``ClientMachine/timerFired()`` after so many nanoseconds; replaces what was set.
    case setTimer(UInt64)
    case stopTimer
}

/// Bytes for the socket: a range of an array, which the machine keeps to send again if need be.
package struct OutgoingBytes: Sendable {
    /// The array that holds them.
    package let bytes: [UInt8]
    /// Where in it they stand.
    package let range: Range<Int>
}

/// How far a client's conversation with the daemon is.
public enum ClientPhase: Equatable, Sendable {
    /// There is no connection now; the client sees to it.
    case connecting
    /// What mirrors show follows the daemon.
    case live
    /// It will not be live again.
    case failed(ClientError)
}
