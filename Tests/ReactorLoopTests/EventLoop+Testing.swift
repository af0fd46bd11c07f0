import Glibc
import ReactorLoop
import Testing

extension EventLoop {
    /// Turns until `condition` holds; a watchdog fails a test that would wait forever.
    func turn(
        _ mode: TurnMode = .wait, until condition: () -> Bool,
        _ location: SourceLocation = #_sourceLocation
    ) throws {
        var isTired = false
        let watchdog = try LoopTimer(on: self)
        watchdog.onFire = { isTired = true }
        watchdog.start(after: .seconds(300))
        while !condition(), !isTired { turn(mode) }
        watchdog.close()
        #expect(condition(), "waited 300 s in vain", sourceLocation: location)
    }

    /// Two connections to each other on this loop.
    func pair() throws -> (Connection, Connection) {
        let (left, right) = Descriptors.pair()
        return (try Connection(on: self, adopting: left), try Connection(on: self, adopting: right))
    }
}

/// Raw sockets, for peers that must not use the code under test.
enum Descriptors {
    /// Two connected sockets, blocking.
    static func pair() -> (Int32, Int32) {
        var both: [Int32] = [-1, -1]
        let kind = Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue)
        guard unsafe socketpair(AF_UNIX, kind, 0, &both) == 0 else {
            preconditionFailure("socketpair: \(errno)")
        }
        return (both[0], both[1])
    }

    /// Writes all of `bytes`; returns false if the other end has closed.
    @discardableResult
    static func write(_ bytes: [UInt8], to descriptor: Int32) -> Bool {
        unsafe send(descriptor, bytes, bytes.count, Int32(MSG_NOSIGNAL)) == bytes.count
    }

    /// Reads up to `byteCount` bytes without waiting; nil if there are none, empty at the end.
    static func read(_ byteCount: Int, from descriptor: Int32) -> [UInt8]? {
        var bytes = [UInt8](repeating: 0, count: byteCount)
        let count = unsafe recv(descriptor, &bytes, byteCount, Int32(MSG_DONTWAIT))
        return count < 0 ? nil : Array(bytes[..<count])
    }

    /// Closes a connected socket at once, also if another test starts a program, which has a copy
    /// of the descriptor up to its `exec`.
    static func close(_ descriptor: Int32) {
        shutdown(descriptor, Int32(SHUT_RDWR))
        Glibc.close(descriptor)
    }
}

extension Listener {
    /// Leaves a socket at `address` to which no process listens.
    static func leaveStale(at address: UnixAddress, on loop: EventLoop) throws {
        try Listener(at: address, on: loop).closeEverywhere(address, on: loop)
    }

    /// Closes it, and waits until no process listens at its address: a program that another test
    /// starts has a copy of the descriptor up to its `exec`.
    func closeEverywhere(_ address: UnixAddress, on loop: EventLoop) {
        close()
        while true {
            do {
                try Connection.connect(to: address, on: loop).close()
            } catch {
                if error.failure?.errnoCode == ECONNREFUSED { return }
            }
            sched_yield()
        }
    }
}

extension Span where Element == UInt8 {
    /// A copy that outlives the callback.
    var array: [UInt8] {
        var copy: [UInt8] = []
        copy.reserveCapacity(count)
        for index in indices { copy.append(self[index]) }
        return copy
    }
}
