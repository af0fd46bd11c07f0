import Glibc
import ReactorBytes
import Testing

@testable import ReactorLoop

@Suite struct ListenerTests {
    @Test(
        "clients are accepted after resumeAccepting, and the socket's mode is 0600 from the start")
    func accepts() throws {
        let loop = try EventLoop()
        defer { loop.close() }
        let directory = TemporaryDirectory()
        let address = try directory.address()
        let listener = try Listener(at: address, on: loop)
        #expect(Files.mode(of: address.path) == S_IFSOCK | 0o600)
        var accepted: [Connection] = []
        listener.onAccept = { accepted.append($0) }
        let client = try Connection.connect(to: address, on: loop)
        loop.turn(.noWait)
        #expect(accepted.isEmpty)
        listener.resumeAccepting()
        try loop.turn { accepted.count == 1 }
        #expect(accepted[0].peer.pid == getpid())
        #expect(client.peer.uid == getuid())

        listener.pauseAccepting()
        _ = try Connection.connect(to: address, on: loop)
        loop.turn(.noWait)
        #expect(accepted.count == 1 && !listener.isAccepting)
        listener.resumeAccepting()
        try loop.turn { accepted.count == 2 }
    }

    @Test("a used path is refused with its name, and the file stays")
    func refusesATakenPath() throws {
        let loop = try EventLoop()
        defer { loop.close() }
        let directory = TemporaryDirectory()
        let address = try directory.address()
        let first = try Listener(at: address, on: loop)
        let error = #expect(throws: LoopError.self) { try Listener(at: address, on: loop) }
        #expect(
            error?.failure
                == CallFailure(
                    call: "bind", code: -EADDRINUSE, subject: address.path))
        #expect(first.isPathOurs)
    }

    @Test("one turn accepts a bounded number and leaves the rest to the next")
    func acceptsInTurns() throws {
        let loop = try EventLoop()
        defer { loop.close() }
        let directory = TemporaryDirectory()
        let address = try directory.address()
        let listener = try Listener(at: address, on: loop)
        var perTurn: [UInt64: Int] = [:]
        listener.onAccept = {
            perTurn[loop.turnCount, default: 0] += 1
            $0.close()
        }
        let count = Listener.acceptsPerTurnMax + 10
        for _ in 0..<count { _ = try Connection.connect(to: address, on: loop) }
        listener.resumeAccepting()
        try loop.turn { perTurn.values.reduce(0, +) == count }
        #expect(perTurn.values.max() == Listener.acceptsPerTurnMax)
    }

    @Test("S34: after 1,000 connects and closes as many sockets are open as before")
    func returnsSockets() async {
        await #expect(processExitsWith: .success) {
            let loop = try EventLoop()
            let directory = TemporaryDirectory()
            let address = try directory.address()
            let listener = try Listener(at: address, on: loop)
            var ends = 0
            listener.onAccept = { connection in
                connection.onClosed = { _ in ends += 1 }
                connection.resumeReading()
            }
            listener.resumeAccepting()
            // A client that leaves without a byte is never announced.
            let first = try Connection.connect(to: address, on: loop)
            first.write([ByteSlice([1])])
            first.close()
            try loop.turn { ends == 1 }
            let baseline = Directory.openSocketCount
            for round in 2...1_001 {
                let client = try Connection.connect(to: address, on: loop)
                client.write([ByteSlice([1, 2, 3])])
                client.close()
                if round % 50 == 1 { try loop.turn { ends == round } }
            }
            #expect(Directory.openSocketCount == baseline)
            loop.close()
        }
    }

    @Test(
        "S36, S37: without descriptors a listener pauses instead of spinning, and later accepts")
    func parksWithoutDescriptors() async {
        await #expect(processExitsWith: .success) {
            let loop = try EventLoop()
            let directory = TemporaryDirectory()
            let address = try directory.address()
            let listener = try Listener(at: address, on: loop)
            var accepted = 0
            listener.onAccept = { _ in accepted += 1 }
            listener.resumeAccepting()
            // More clients than descriptors that the runtime may release during the test.
            let clients = try (0..<20).map { _ in
                try Connection.connect(to: address, on: loop)
            }
            let hoard = Descriptors.takeAll(limit: 200)
            let before = loop.turnCount
            try loop.turn { listener.parkCount == 3 }
            // Each parking is one turn that fails to accept and one that wakes up.
            #expect(loop.turnCount - before <= 8)
            #expect(accepted < 20 && clients.allSatisfy { !$0.isClosed })
            for descriptor in hoard { close(descriptor) }
            try loop.turn { accepted == 20 }
            #expect(!listener.isParked)
            loop.close()
        }
    }

    @Test("S38: a client that closed before it was accepted is dropped, unless it sent bytes")
    func acceptsTheVanished() async {
        // In a separate process: other tests spawn programs, which begin with copies of the closed
        // sockets.
        await #expect(processExitsWith: .success) {
            let loop = try EventLoop()
            defer { loop.close() }
            let directory = TemporaryDirectory()
            let address = try directory.address()
            let listener = try Listener(at: address, on: loop)
            var events: [String] = []
            listener.onAccept = { connection in
                connection.onBytes = { events.append("\($0.count) bytes") }
                connection.onClosed = { events.append("closed \($0 as Any)") }
                connection.resumeReading()
            }
            try Connection.connect(to: address, on: loop).close()
            let brief = try Connection.connect(to: address, on: loop)
            brief.write([ByteSlice([1, 2])])
            brief.close()
            loop.turn(.noWait)
            listener.resumeAccepting()
            try loop.turn { events.count == 2 }
            loop.turn(.noWait)
            #expect(events == ["2 bytes", "closed nil"])
        }
    }

    @Test("S34: after a storm of closed clients, the next is accepted in the same turn")
    func acceptsBehindAStorm() async {
        // In a separate process: other tests spawn programs, which begin with copies of the closed
        // sockets.
        await #expect(processExitsWith: .success) {
            let loop = try EventLoop()
            defer { loop.close() }
            let directory = TemporaryDirectory()
            let address = try directory.address()
            let listener = try Listener(at: address, on: loop)
            var accepted = 0
            listener.onAccept = { _ in accepted += 1 }
            for _ in 0..<4 * Listener.acceptsPerTurnMax {
                try Connection.connect(to: address, on: loop).close()
            }
            let client = try Connection.connect(to: address, on: loop)
            loop.turn(.noWait)
            listener.resumeAccepting()
            loop.turn(.noWait)
            #expect(accepted == 1 && !client.isClosed)
        }
    }

    @Test("S39: a full backlog answers EAGAIN, and a later retry succeeds")
    func overflowsTheBacklog() throws {
        let loop = try EventLoop()
        defer { loop.close() }
        let directory = TemporaryDirectory()
        let address = try directory.address()
        let listener = try Listener(at: address, on: loop, backlog: 2)
        var accepted = 0
        listener.onAccept = { _ in accepted += 1 }
        var connected = 0
        var refusal: LoopError?
        while refusal == nil, connected < 100 {
            do throws(LoopError) {
                _ = try Connection.connect(to: address, on: loop)
                connected += 1
            } catch {
                refusal = error
            }
        }
        #expect(refusal?.failure?.errnoCode == EAGAIN)
        listener.resumeAccepting()
        try loop.turn { accepted == connected }
        _ = try Connection.connect(to: address, on: loop)
        try loop.turn { accepted == connected + 1 }
    }

    @Test("S43: closing after a successor was bound leaves the successor's path alone")
    func leavesTheSuccessor() throws {
        let loop = try EventLoop()
        defer { loop.close() }
        let directory = TemporaryDirectory()
        let address = try directory.address()
        let old = try Listener(at: address, on: loop)
        #expect(old.isPathOurs)
        #expect(old.unlinkIfOurs())
        let new = try Listener(at: address, on: loop)
        #expect(!old.isPathOurs && new.isPathOurs)
        #expect(!old.unlinkIfOurs())
        old.close()
        loop.turn(.noWait)
        #expect(new.isPathOurs)
        #expect(new.unlinkIfOurs())
        #expect(directory.names.isEmpty)
    }

    @Test(
        "S47: a listener detects the removal of its file, and a new socket serves beside the old")
    func noticesItsRemoval() throws {
        let loop = try EventLoop()
        defer { loop.close() }
        let directory = TemporaryDirectory()
        let address = try directory.address()
        let lost = try Listener(at: address, on: loop)
        lost.onAccept = { _ in }
        lost.resumeAccepting()
        let early = try Connection.connect(to: address, on: loop)
        loop.turn(.wait)
        #expect(unsafe unlink(address.path) == 0)
        #expect(!lost.isPathOurs)
        let new = try Listener(at: address, on: loop)
        lost.close()
        var accepted = 0
        new.onAccept = { _ in accepted += 1 }
        new.resumeAccepting()
        _ = try Connection.connect(to: address, on: loop)
        try loop.turn { accepted == 1 }
        #expect(!early.isClosed && !early.isEnded)
    }

    @Test("an inherited listening socket is served unchanged, and never unlinked")
    func adopts() throws {
        let loop = try EventLoop()
        defer { loop.close() }
        let directory = TemporaryDirectory()
        let address = try directory.address()
        let descriptor = try UnixSocket.listen(at: address, backlog: 10)
        let listener = try Listener(on: loop, adopting: descriptor)
        #expect(listener.address == address)
        var accepted = 0
        listener.onAccept = { _ in accepted += 1 }
        listener.resumeAccepting()
        _ = try Connection.connect(to: address, on: loop)
        try loop.turn { accepted == 1 }
        #expect(!listener.unlinkIfOurs())
        listener.close()
        #expect(directory.names == ["s"])
    }

    @Test(
        "a descriptor that is not a listening Unix stream socket is refused and stays the caller's")
    func refusesToAdopt() throws {
        let loop = try EventLoop()
        defer { loop.close() }
        let (one, other) = Descriptors.pair()
        #expect(throws: LoopError.notAListener(descriptor: one)) {
            try Listener(on: loop, adopting: one)
        }
        #expect(close(one) == 0 && close(other) == 0)
    }

    @Test("without an accept callback clients are closed, not kept")
    func turnsAway() throws {
        let loop = try EventLoop()
        defer { loop.close() }
        let directory = TemporaryDirectory()
        let address = try directory.address()
        try Listener(at: address, on: loop).resumeAccepting()
        let client = try Connection.connect(to: address, on: loop)
        var isEnded = false
        client.onEnd = { isEnded = true }
        client.resumeReading()
        try loop.turn { isEnded }
    }

    @Test("a listener closed by its own accept callback accepts no more")
    func closesInside() throws {
        let loop = try EventLoop()
        defer { loop.close() }
        let directory = TemporaryDirectory()
        let address = try directory.address()
        let listener = try Listener(at: address, on: loop)
        var events: [String] = []
        listener.onAccept = { _ in
            events.append("accepted")
            listener.close()
        }
        listener.onClosed = { events.append("closed \($0 as Any)") }
        for _ in 0..<3 { _ = try Connection.connect(to: address, on: loop) }
        listener.resumeAccepting()
        try loop.turn { events.count == 2 }
        loop.turn(.noWait)
        #expect(events == ["accepted", "closed nil"])
    }
}
