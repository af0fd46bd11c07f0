import ReactorServer

/// A socket between the server and one client: two streams of bytes, and what befell them.
public final class SimulatedLink {
    let id: ConnectionID
    /// Bytes from the client that the server has not read.
    var up: [UInt8] = []
    /// Bytes for the client that stand in the system's buffer.
    var down: [UInt8] = []
    /// Bytes of the server's write that the buffer had no room for.
    var rest: [UInt8] = []
    var isWriting = false
    /// Whether the server does not read.
    var isPaused = false
    /// Whether the client does not read.
    var isStalled = false
    /// Whether the client has closed its end.
    var isFinished = false
    /// Whether the client sends nothing more, and still reads.
    var isHalfClosed = false
    var isOpen = true
    var isUpDue = false
    var isDownDue = false

    init(_ id: ConnectionID) { self.id = id }

    /// Moves what fits into the buffer of `capacity` bytes; says whether that ended a write.
    func fill(_ capacity: Int) -> Bool {
        guard isWriting else { return false }
        let count = min(max(0, capacity - down.count), rest.count)
        down.append(contentsOf: rest.prefix(count))
        rest.removeFirst(count)
        guard rest.isEmpty else { return false }
        isWriting = false
        return true
    }

    /// Takes up to `count` bytes from the front of a stream.
    static func take(_ count: Int, from stream: inout [UInt8]) -> [UInt8] {
        let taken = Array(stream.prefix(count))
        stream.removeFirst(taken.count)
        return taken
    }
}
