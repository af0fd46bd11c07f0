import Glibc
import ReactorBytes
import ReactorLoop
import Testing

@Suite struct ConnectionTests {
    @Test("bytes travel both ways, and the read span contains exactly the sent bytes")
    func echoes() throws {
        let loop = try EventLoop()
        defer { loop.close() }
        let (client, server) = try loop.pair()
        server.onBytes = { server.write($0) }
        server.resumeReading()
        var got: [UInt8] = []
        client.onBytes = { got += $0.array }
        client.resumeReading()
        #expect(client.write([ByteSlice([1, 2]), ByteSlice([9, 3, 9], range: 1..<2)]) == 3)
        try loop.turn { got.count == 3 }
        #expect(got == [1, 2, 3])
        #expect(client.pendingByteCount == 0)
    }

    @Test("a connection opens paused, and does not read while it is paused")
    func pauses() throws {
        let loop = try EventLoop()
        defer { loop.close() }
        let (near, far) = Descriptors.pair()
        defer { close(far) }
        let connection = try Connection(on: loop, adopting: near)
        var got: [UInt8] = []
        connection.onBytes = {
            got += $0.array
            connection.pauseReading()
        }
        Descriptors.write([1], to: far)
        loop.turn(.noWait)
        #expect(got.isEmpty && !connection.isReading)
        connection.resumeReading()
        connection.resumeReading()
        try loop.turn { got == [1] }
        Descriptors.write([2], to: far)
        loop.turn(.noWait)
        #expect(got == [1] && !connection.isReading)
        connection.resumeReading()
        try loop.turn { got == [1, 2] }
    }

    @Test(
        "one turn reads no more than the budget, and the next continues",
        arguments: [1, 1_000, 100_000])
    func keepsTheBudget(_ budget: Int) throws {
        let loop = try EventLoop()
        defer { loop.close() }
        let (near, far) = Descriptors.pair()
        defer { close(far) }
        let byteCount = min(budget * 3, 150_000)
        Descriptors.write([UInt8](repeating: 5, count: byteCount), to: far)
        let connection = try Connection(on: loop, adopting: near)
        connection.readBudget = budget
        var total = 0
        var turns: [UInt64: Int] = [:]
        connection.onBytes = {
            total += $0.count
            turns[loop.turnCount, default: 0] += $0.count
        }
        connection.resumeReading()
        try loop.turn { total == byteCount }
        #expect(turns.values.allSatisfy { $0 <= budget })
        #expect(turns.count == (byteCount + budget - 1) / budget)
    }

    @Test("a busy peer does not keep another from being read in the same turn")
    func budgetIsFair() throws {
        let loop = try EventLoop()
        defer { loop.close() }
        let (busy, busyPeer) = Descriptors.pair()
        let (quiet, quietPeer) = Descriptors.pair()
        defer {
            close(busyPeer)
            close(quietPeer)
        }
        Descriptors.write([UInt8](repeating: 5, count: 100_000), to: busyPeer)
        Descriptors.write([1], to: quietPeer)
        let first = try Connection(on: loop, adopting: busy)
        let second = try Connection(on: loop, adopting: quiet)
        first.readBudget = 10_000
        var read = (first: 0, second: 0)
        first.onBytes = { read.first += $0.count }
        second.onBytes = { read.second += $0.count }
        first.resumeReading()
        second.resumeReading()
        loop.turn(.wait)
        #expect(read == (10_000, 1))
    }

    @Test("connecting to a missing or unused path fails with the path")
    func refusesToConnect() throws {
        let loop = try EventLoop()
        defer { loop.close() }
        let directory = TemporaryDirectory()
        let address = try directory.address()
        let missing = #expect(throws: LoopError.self) {
            try Connection.connect(to: address, on: loop)
        }
        #expect(missing?.failure?.name == "ENOENT")
        #expect(missing?.description.contains(address.path) == true)
        try Listener.leaveStale(at: address, on: loop)
        let stale = #expect(throws: LoopError.self) {
            try Connection.connect(to: address, on: loop)
        }
        #expect(stale?.failure?.errnoCode == ECONNREFUSED)
    }

    @Test("a descriptor that is not a socket is refused, and closed")
    func refusesNoSocket() throws {
        let loop = try EventLoop()
        defer { loop.close() }
        let file = unsafe open("/dev/null", O_RDONLY | O_CLOEXEC)
        let error = #expect(throws: LoopError.self) {
            try Connection(on: loop, adopting: file)
        }
        #expect(error?.failure?.name == "ENOTSOCK")
    }

    @Test("W22: after a half-close the reply is still delivered, then the connection closes")
    func answersAHalfClose() throws {
        let loop = try EventLoop()
        defer { loop.close() }
        let (client, server) = try loop.pair()
        var request: [UInt8] = []
        var reply: [UInt8] = []
        var events: [String] = []
        server.onBytes = { request += $0.array }
        server.onEnd = {
            server.write([ByteSlice(request.reversed())])
            server.finish()
        }
        server.onClosed = { events.append("server closed \($0 as Any)") }
        client.onBytes = { reply += $0.array }
        client.onEnd = { events.append("client end") }
        server.resumeReading()
        client.resumeReading()
        client.write([ByteSlice([1, 2, 3])])
        client.shutdown()
        #expect(client.write([ByteSlice([4])]) == 0)
        try loop.turn { events.count == 2 }
        #expect(reply == [3, 2, 1])
        #expect(Set(events) == ["server closed nil", "client end"])
        #expect(client.isEnded && !client.isReading)
    }

    @Test("W22: a full close is not a half-close: the connection ends, whatever it has to write")
    func fullClose() throws {
        let loop = try EventLoop()
        defer { loop.close() }
        for pendingBytes in [0, 1_000_000] {
            let (near, far) = Descriptors.pair()
            let connection = try Connection(on: loop, adopting: near)
            var events: [String] = []
            connection.onBytes = { events.append("\($0.count) bytes") }
            connection.onEnd = { events.append("end") }
            connection.onClosed = { _ in events.append("closed") }
            connection.resumeReading()
            connection.write([ByteSlice([UInt8](repeating: 7, count: pendingBytes))])
            #expect(unsafe Glibc.write(far, [1, 2, 3], 3) == 3)
            close(far)
            try loop.turn { events.last == "closed" }
            // If the reader left bytes unread, the kernel drops its own bytes.
            if pendingBytes == 0 { #expect(events == ["3 bytes", "end", "closed"]) }
        }
    }

    @Test("W22: a half-closed peer that closes completely later is detected by polling")
    func closesLater() throws {
        let loop = try EventLoop()
        defer { loop.close() }
        let (near, far) = Descriptors.pair()
        let connection = try Connection(on: loop, adopting: near)
        var isEnded = false
        connection.onEnd = { isEnded = true }
        connection.resumeReading()
        Glibc.shutdown(far, Int32(SHUT_WR))
        try loop.turn { isEnded }
        #expect(!connection.isHungUp && !connection.isClosed)
        Descriptors.close(far)
        #expect(connection.isHungUp)
        connection.close()
        #expect(connection.isHungUp)
    }

    @Test("without an end callback a half-closed connection finishes its writes and closes")
    func closesByItself() throws {
        let loop = try EventLoop()
        defer { loop.close() }
        let (near, far) = Descriptors.pair()
        defer { close(far) }
        let connection = try Connection(on: loop, adopting: near)
        var isClosed = false
        connection.onClosed = { _ in isClosed = true }
        connection.resumeReading()
        let data = [UInt8](repeating: 7, count: 1_000_000)
        let written = connection.write([ByteSlice(data)])
        #expect(written < data.count)
        Glibc.shutdown(far, Int32(SHUT_WR))
        var got = 0
        try loop.turn {
            while let bytes = Descriptors.read(100_000, from: far), !bytes.isEmpty {
                got += bytes.count
            }
            return isClosed
        }
        while let bytes = Descriptors.read(100_000, from: far), !bytes.isEmpty {
            got += bytes.count
        }
        #expect(got == data.count)
    }

    @Test("W22: a peer that closes with replies pending causes an error, no signal and no leak")
    func survivesAVanishedPeer() throws {
        final class Owner {}
        let loop = try EventLoop()
        defer { loop.close() }
        weak var released: Owner?
        var errors: [LoopError?] = []
        do {
            let owner = Owner()
            released = owner
            let (near, far) = Descriptors.pair()
            let connection = try Connection(on: loop, adopting: near)
            connection.onClosed = { [owner] in
                _ = owner
                errors.append($0)
            }
            connection.write([ByteSlice([UInt8](repeating: 7, count: 1_000_000))])
            #expect(connection.pendingByteCount > 0)
            close(far)
        }
        try loop.turn { !errors.isEmpty }
        let name = errors[0]?.failure?.name
        #expect(name == "EPIPE" || name == "ECONNRESET")
        loop.turn(.noWait)
        #expect(released == nil)
    }

    @Test("writing to a closed peer closes the connection with the reason")
    func writeToTheGone() throws {
        let loop = try EventLoop()
        defer { loop.close() }
        let (near, far) = Descriptors.pair()
        Descriptors.close(far)
        let connection = try Connection(on: loop, adopting: near)
        var error: LoopError?
        connection.onClosed = { error = $0 }
        #expect(connection.write([ByteSlice([1])]) == 0)
        #expect(connection.isClosed)
        try loop.turn { error != nil }
        #expect(error?.failure?.name == "EPIPE")
    }

    @Test("a write to a peer that has closed loses none of the peer's last bytes")
    func lastBytes() throws {
        let loop = try EventLoop()
        defer { loop.close() }
        let (near, far) = Descriptors.pair()
        let connection = try Connection(on: loop, adopting: near)
        var (received, ends): ([UInt8], [LoopError?]) = ([], [])
        connection.onBytes = { bytes in
            for index in bytes.indices { received.append(bytes[index]) }
        }
        connection.onClosed = { ends.append($0) }
        connection.resumeReading()
        #expect(Descriptors.write([1, 2, 3], to: far))
        Descriptors.close(far)
        #expect(connection.write([ByteSlice([9])]) == 0 && !connection.isClosed)
        #expect(connection.write([ByteSlice([9])]) == 0 && connection.pendingByteCount == 0)
        try loop.turn { !ends.isEmpty }
        #expect(received == [1, 2, 3])
        #expect(ends.count == 1 && ends[0]?.failure?.name == "EPIPE")
    }

    @Test("S40: descriptors passed by a peer never enter the process")
    func dropsPassedDescriptors() async {
        await #expect(processExitsWith: .success) {
            let loop = try EventLoop()
            let (near, far) = Descriptors.pair()
            let connection = try Connection(on: loop, adopting: near)
            var got = 0
            connection.onBytes = { got += $0.count }
            connection.resumeReading()
            let passed = [Int32](repeating: far, count: 253)
            try Descriptors.write([1], passing: passed, to: far)
            try loop.turn { got == 1 }
            let baseline = Directory.openSocketCount
            for round in 2...1_000 {
                try Descriptors.write([1], passing: passed, to: far)
                try loop.turn { got == round }
            }
            #expect(Directory.openSocketCount == baseline)
            loop.close()
        }
    }
}
