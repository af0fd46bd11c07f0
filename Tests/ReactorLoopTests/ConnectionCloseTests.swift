import Glibc
import ReactorBytes
import ReactorLoop
import Testing

@Suite struct ConnectionCloseTests {
    @Test("close inside each callback is safe, and only the last callback follows")
    func closesInside() throws {
        for place in ["bytes", "end", "written", "closed"] {
            let loop = try EventLoop()
            defer { loop.close() }
            let (near, far) = Descriptors.pair()
            let connection = try Connection(on: loop, adopting: near)
            var events: [String] = []
            func note(_ event: String) {
                events.append(event)
                if event == place { connection.close() }
            }
            connection.onBytes = { _ in note("bytes") }
            connection.onEnd = { note("end") }
            connection.onWritten = { note("written") }
            connection.onClosed = { _ in note("closed") }
            connection.resumeReading()
            if place == "written" {
                connection.write([ByteSlice([UInt8](repeating: 1, count: 300_000))])
                try loop.turn {
                    while Descriptors.read(65_536, from: far)?.isEmpty == false {}
                    return connection.isClosed
                }
            }
            if place == "bytes" || place == "end" {
                Descriptors.write([1], to: far)
            }
            if place == "closed" { connection.close() }
            close(far)
            try loop.turn { events.last == "closed" }
            loop.turn(.noWait)
            let expected = place == "end" ? ["bytes", "end", "closed"] : [place, "closed"]
            #expect(events == (place == "closed" ? ["closed"] : expected))
        }
    }

    @Test("close with waiting bytes drops them and calls only the last callback")
    func closesWithBytesWaiting() throws {
        let loop = try EventLoop()
        defer { loop.close() }
        let (near, far) = Descriptors.pair()
        defer { close(far) }
        let connection = try Connection(on: loop, adopting: near)
        var events: [String] = []
        connection.onWritten = { events.append("written") }
        connection.onClosed = { events.append("closed \($0 as Any)") }
        connection.write([ByteSlice([UInt8](repeating: 1, count: 1_000_000))])
        connection.close()
        connection.close()
        #expect(connection.pendingByteCount == 0)
        #expect(connection.write([ByteSlice([1])]) == 0)
        connection.resumeReading()
        connection.shutdown()
        connection.finish()
        try loop.turn { !events.isEmpty }
        #expect(events == ["closed nil"])
    }

    @Test("a connection closed by another connection's reader in the same pass stays silent")
    func closesANeighbour() throws {
        let loop = try EventLoop()
        defer { loop.close() }
        let (near, far) = Descriptors.pair()
        let (near2, far2) = Descriptors.pair()
        defer {
            close(far)
            close(far2)
        }
        let one = try Connection(on: loop, adopting: near)
        let two = try Connection(on: loop, adopting: near2)
        var reads = 0
        one.onBytes = { _ in
            reads += 1
            two.close()
        }
        two.onBytes = { _ in
            reads += 1
            one.close()
        }
        one.resumeReading()
        two.resumeReading()
        Descriptors.write([1], to: far)
        Descriptors.write([1], to: far2)
        loop.turn(.wait)
        loop.turn(.noWait)
        #expect(reads == 1)
        #expect(one.isClosed != two.isClosed)
    }

    @Test("a closed connection is released, and releases its callbacks")
    func releases() throws {
        final class Session { var connection: Connection? }
        let loop = try EventLoop()
        defer { loop.close() }
        weak var released: Session?
        weak var connection: Connection?
        do {
            let session = Session()
            released = session
            let (one, other) = try loop.pair()
            connection = one
            session.connection = one
            one.onBytes = { _ in _ = session }
            one.onEnd = { session.connection?.close() }
            one.onClosed = { _ in _ = session }
            one.resumeReading()
            other.close()
        }
        try loop.turn { released == nil && connection == nil }
        #expect(released == nil && connection == nil)
    }
}
