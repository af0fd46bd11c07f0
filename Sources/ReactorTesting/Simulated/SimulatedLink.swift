import ReactorServer

/// A simulated socket between the server and one client: two byte streams and their state.
///
/// *Invariants*: bytes that did not fit into the buffer belong to a write that is not complete.
/// *Owner*: the world.
package final class SimulatedLink {
    let id: ConnectionID
    /// How long its bytes travel, and in which portions.
    let chance: SimulatedChance
    /// Bytes from the client that the server has not read.
    private var up: [UInt8] = []
    /// Bytes for the client in the system's buffer.
    private var down: [UInt8] = []
    /// Bytes of the server's current write that did not fit into the buffer.
    private var rest: [UInt8] = []
    private(set) var isWriting = false
    /// Whether the server has paused reading.
    private var isPaused = false
    /// Whether the client has paused reading.
    private var isStalled = false
    /// Whether the client has closed its end.
    private(set) var isFinished = false
    /// Whether the client has shut down its writing side and still reads.
    private(set) var isHalfClosed = false
    private(set) var isOpen = true
    private var isUpDue = false
    private var isDownDue = false

    init(_ id: ConnectionID, _ chance: SimulatedChance) {
        self.id = id
        self.chance = chance
    }

    /// Closes the server's end.
    func close() { isOpen = false }

    /// Removes and returns up to `count` bytes from the front of a stream.
    private static func take(_ count: Int, from stream: inout [UInt8]) -> [UInt8] {
        let taken = Array(stream.prefix(count))
        stream.removeFirst(taken.count)
        return taken
    }

    private func invariants() {
        assert(isWriting || rest.isEmpty, "\(rest.count) bytes of a complete write")
    }
}

// MARK: - From the client to the server
extension SimulatedLink {
    /// Whether the server has more to read: bytes, or the end of the stream.
    var hasInput: Bool { hasBytes || isFinished || isHalfClosed }
    /// Whether bytes wait for the server.
    var hasBytes: Bool { !up.isEmpty }

    /// Sends bytes.
    func send(_ bytes: ArraySlice<UInt8>) { up.append(contentsOf: bytes) }

    /// Closes the client's end.
    func finish() { isFinished = true }

    /// Shuts down the client's writing side.
    func halfClose() { isHalfClosed = true }

    /// Makes the server pause or resume reading.
    func pause(_ isPaused: Bool) { self.isPaused = isPaused }

    /// Returns whether to schedule an arrival at the server, and records that it is scheduled.
    func scheduleUp() -> Bool {
        guard isOpen, !isUpDue, !isPaused else { return false }
        isUpDue = true
        return true
    }

    /// Called when a scheduled arrival is due; returns whether the server reads.
    func arriveUp() -> Bool {
        isUpDue = false
        return isOpen && !isPaused
    }

    /// Removes and returns up to `count` bytes that the server reads.
    func read(_ count: Int) -> [UInt8] { Self.take(count, from: &up) }
}

// MARK: - From the server to the client
extension SimulatedLink {
    /// Whether bytes wait for the client.
    var hasOutput: Bool { !down.isEmpty }

    /// Begins a write of the server.
    func write(_ bytes: [UInt8]) {
        isWriting = true
        rest.append(contentsOf: bytes)
        invariants()
    }

    /// Makes the client pause or resume reading.
    func stall(_ isStalled: Bool) { self.isStalled = isStalled }

    /// Returns whether to schedule an arrival at the client, and records that it is scheduled.
    func scheduleDown() -> Bool {
        guard isOpen, !isDownDue, !isStalled else { return false }
        isDownDue = true
        return true
    }

    /// Called when a scheduled arrival is due; returns whether the client reads.
    func arriveDown() -> Bool {
        isDownDue = false
        return isOpen && !isStalled
    }

    /// Removes and returns up to `count` bytes that the client reads.
    func deliver(_ count: Int) -> [UInt8] { Self.take(count, from: &down) }

    /// Moves bytes into the buffer, up to `capacity`; returns whether that completed the write.
    func fill(_ capacity: Int) -> Bool {
        guard isWriting else { return false }
        let count = min(max(0, capacity - down.count), rest.count)
        down.append(contentsOf: rest.prefix(count))
        rest.removeFirst(count)
        guard rest.isEmpty else { return false }
        isWriting = false
        invariants()
        return true
    }

    /// Drops the part of the current write that is not in the buffer.
    func dropRest() { rest = [] }

    /// All bytes that the server has written and the client has not read.
    var lastBytes: [UInt8] { down + rest }
}
