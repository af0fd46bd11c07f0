import ReactorServer

/// A simulated socket between the server and one client: two byte streams and their state.
package final class SimulatedLink {
    let id: ConnectionID
    /// Bytes from the client that the server has not read.
    var up: [UInt8] = []
    /// Bytes for the client in the system's buffer.
    var down: [UInt8] = []
    /// Bytes of the server's current write that did not fit into the buffer.
    var rest: [UInt8] = []
    var isWriting = false
    /// Whether the server has paused reading.
    var isPaused = false
    /// Whether the client has paused reading.
    var isStalled = false
    /// Whether the client has closed its end.
    var isFinished = false
    /// Whether the client has shut down its writing side and still reads.
    var isHalfClosed = false
    var isOpen = true
    var isUpDue = false
    var isDownDue = false

    init(_ id: ConnectionID) { self.id = id }

    /// Moves bytes into the buffer, up to `capacity`; returns whether that completed the write.
    func fill(_ capacity: Int) -> Bool {
        guard isWriting else { return false }
        let count = min(max(0, capacity - down.count), rest.count)
        down.append(contentsOf: rest.prefix(count))
        rest.removeFirst(count)
        guard rest.isEmpty else { return false }
        isWriting = false
        return true
    }

    /// Removes and returns up to `count` bytes from the front of a stream.
    static func take(_ count: Int, from stream: inout [UInt8]) -> [UInt8] {
        let taken = Array(stream.prefix(count))
        stream.removeFirst(taken.count)
        return taken
    }
}
