import ReactorCore
import ReactorWire
import Testing

@testable import ReactorServer

/// Large answers: shared, sent in parts, within a limit.
struct AnswerTableTests {
    /// A server whose `/page` has at least `byteCount` bytes, and the client that wrote it.
    private func large(
        _ byteCount: Int = 300_000, change: (inout ServerLimits) -> Void = { _ in }
    ) -> (harness: ServerHarness, writer: TestClient) {
        let harness = ServerHarness { change(&$0) }
        let writer = harness.client()
        writer.open("/page")
        fill(byteCount, "x", writer)
        return (harness, writer)
    }

    private func fill(_ byteCount: Int, _ letter: Character, _ writer: TestClient) {
        writer.dispatch(Page.Action.body(String(repeating: letter, count: byteCount)))
        writer.harness.settle()
        _ = writer.frames()
    }

    private func get(_ client: TestClient) {
        client.ask(.get(path: "/page"))
        client.harness.settle()
    }

    /// The value in the joined parts of an answer.
    private func page(_ frames: [TestFrame]) throws -> Page.State {
        let parts = frames.filter { $0.kind == .answer }
        #expect(parts.dropLast().allSatisfy { $0.flags == .more } && parts.last?.flags == [])
        #expect(Set(parts.map(\.number)).count == 1)
        let body = parts.flatMap(\.body)
        var cursor = WireCursor()
        _ = try cursor.openArray(in: body.span)
        _ = try Revision.decode(body.span, &cursor)
        #expect(try Bool.decode(body.span, &cursor))
        return try Page.State.decode(body.span, &cursor)
    }

    @Test("the smallest refused answer is reported, once")
    func refusals() {
        var table = AnswerTable()
        let answer = table.single([UInt8](repeating: 0, count: 90))
        table.retain(answer)
        let room = [20, 15, 10].map { table.makeRoom(for: $0, 100) }
        #expect(room == [false, false, true])
        let refused = [table.takeRefusal(), table.takeRefusal()]
        #expect(refused == [15, nil])
    }

    @Test("twenty clients that do not read share one encoding, and each gets all of it in parts")
    func shared() throws {
        let (harness, _) = large(1_000_000)
        let clients = (1...20).map { _ in harness.client() }
        for client in clients {
            _ = client.frames()
            client.socket.room = 0
            get(client)
        }
        let memory = harness.server.memory
        #expect((1_000_000...1_100_000).contains(memory.answerBytes))
        #expect(memory.keptBytes < 100_000, "\(memory.keptBytes)")
        for client in clients {
            #expect(client.socket.waitingBytes <= harness.server.limits.writeBytesMax + 70_000)
            client.take()
            harness.settle()
            let frames = client.frames()
            #expect(frames.count == 16 && frames.allSatisfy { $0.body.count <= 64 << 10 })
            #expect(try page(frames).body.utf8.count == 1_000_000)
        }
        harness.now += 2 * AnswerTable.idleNanoseconds
        harness.server.tick(at: harness.now)
        #expect(harness.server.memory.answerBytes == 0)
    }

    // [WIRE-11-5]
    @Test("an answer has one revision, whatever changes while its client reads it")
    func oneRevision() throws {
        let (harness, writer) = large()
        let client = harness.client()
        _ = client.frames()
        client.socket.room = 70_000
        get(client)
        fill(300_000, "y", writer)
        client.take()
        harness.settle()
        #expect(Set(try page(client.frames()).body) == ["x"])
        get(client)
        #expect(Set(try page(client.frames()).body) == ["y"])
    }

    // [WIRE-11-6]
    @Test("at the limit a question waits, and a stalled answer is ended for it")
    func ceiling() throws {
        let (harness, writer) = large { $0.answersBytesMax = 200_000 }
        let (stopped, other) = (harness.client(), harness.client())
        _ = (stopped.frames(), other.frames())
        stopped.socket.room = 100_000
        get(stopped)
        fill(300_000, "y", writer)
        get(other)
        harness.server.tick(at: harness.now)
        harness.settle()
        #expect(other.frames().isEmpty)
        harness.now += harness.server.limits.answerDeadline
        harness.server.tick(at: harness.now)
        harness.settle()
        #expect(Set(try page(other.frames()).body) == ["y"])
        stopped.take()
        harness.settle()
        let frames = stopped.frames()
        #expect(frames.last?.kind == .refused && frames.dropLast().allSatisfy { $0.flags == .more })
        #expect(try frames.last?.decode(Refusal.self).code == .busy)
        #expect(!stopped.socket.isClosed)
    }

    @Test("at the limit an answer makes room once its client has read it")
    func room() throws {
        let (harness, writer) = large { $0.answersBytesMax = 200_000 }
        let (slow, other) = (harness.client(), harness.client())
        _ = (slow.frames(), other.frames())
        slow.socket.room = 100_000
        get(slow)
        fill(300_000, "y", writer)
        get(other)
        #expect(other.frames().isEmpty)
        slow.take()
        harness.settle()
        #expect(Set(try page(slow.frames()).body) == ["x"])
        #expect(Set(try page(other.frames()).body) == ["y"])
    }

    @Test(
        "W22: a large answer arrives complete after a half-close and after a goodbye",
        arguments: [true, false])
    func halfClose(saysGoodbye: Bool) throws {
        let (harness, _) = large()
        let client = harness.client()
        _ = client.frames()
        client.socket.room = 0
        client.ask(.get(path: "/page"))
        if saysGoodbye { client.send(.goodbye) } else { harness.server.endInput(client.id) }
        harness.settle()
        #expect(!client.socket.isClosed)
        while !client.socket.isClosed {
            client.take(50_000)
            harness.settle()
        }
        #expect(try page(client.frames()).body.utf8.count == 300_000)
    }

    @Test("an answer whose reader disconnects takes no room")
    func gone() {
        let (harness, writer) = large()
        let client = harness.client()
        client.socket.room = 0
        get(client)
        #expect(harness.server.memory.answerBytes > 300_000)
        client.disconnect()
        fill(300_000, "y", writer)
        harness.now += 2 * AnswerTable.idleNanoseconds
        harness.server.tick(at: harness.now)
        #expect(harness.server.memory.answerBytes == 0)
    }
}
