import ReactorCore
import ReactorServer
import ReactorWire
import Testing

/// Drives ``Inquiries``: questions about the past and the daemon, which a server passes on.
@Suite("Inquiry")
struct InquiryTests {
    private func ask(_ client: TestClient, _ number: UInt64) {
        var writer = WireWriter()
        let frame = writer.beginFrame(.ask, number: number)
        Question.snapshot.encode(into: &writer)
        writer.endFrame(at: frame)
        client.send(writer.bytes)
    }

    @Test("a server without a history refuses questions about the past")
    func memory() throws {
        let harness = ServerHarness()
        let client = harness.client()
        ask(client, 1)
        harness.turn()
        #expect(try #require(client.frames(.refused).first).decode(Refusal.self).code == .history)
        #expect(harness.inquiries.isEmpty)
    }

    // [WIRE-11-2]
    @Test("questions about the past are answered later, and a connection may have some waiting")
    func bound() throws {
        let harness = try ServerHarness.keeping()
        let client = harness.client()
        let most = UInt64(Inquiry.perConnectionMax)
        for number in 1...most + 1 { ask(client, number) }
        harness.turn()
        #expect(harness.inquiries.map(\.number) == Array(1...most))
        #expect(client.frames(.refused).map(\.number) == [most + 1])
        harness.server.answer(
            harness.inquiries[0], with: .success(true.wireBytes()), at: harness.now)
        harness.settle()
        #expect(client.frames(.answer).map(\.number) == [1])
        ask(client, most + 2)
        harness.turn()
        #expect(harness.inquiries.last?.number == most + 2)
    }

    @Test("W22: a question from before a half-close is answered, then comes the close")
    func halfClose() throws {
        let harness = try ServerHarness.keeping()
        let client = harness.client()
        ask(client, 1)
        harness.server.endInput(client.id)
        harness.turn()
        #expect(!client.socket.isClosed)
        let inquiry = try #require(harness.inquiries.first)
        harness.server.answer(inquiry, with: .success([0xf5]), at: harness.now)
        harness.settle()
        #expect(client.frames(.answer).map(\.number) == [1])
        #expect(client.socket.isClosed)
    }

    /// A server whose memory lacks the first 100 changes, and a client that has half of them.
    private func missed(
        change: (inout ServerLimits) -> Void = { _ in }
    ) throws -> (harness: ServerHarness, writer: TestClient) {
        let harness = try ServerHarness.keeping {
            $0.ringBytesMax = 500
            change(&$0)
        }
        let writer = harness.client()
        writer.open("/visits")
        for _ in 1...100 {
            writer.add(1)
            harness.turn()
        }
        harness.answersHistory = false
        return (harness, writer)
    }

    @Test("W22: a subscription looked up in the journal is answered after a half-close")
    func halfCloseOfParked() throws {
        let (harness, _) = try missed()
        let reader = harness.client()
        _ = reader.frames()
        reader.subscribe("/visits", from: Revision(epoch: 7, sequence: 50))
        harness.server.endInput(reader.id)
        harness.settle()
        #expect(reader.frames().isEmpty && !reader.socket.isClosed)
        let question = try #require(harness.questions.first)
        harness.server.answer(question.number, with: nil, at: harness.now)
        harness.settle()
        #expect(reader.frames().map(\.kind) == [.subscribed, .snapshot, .mark])
        #expect(reader.socket.isClosed)
    }

    @Test("W22: a client that half-closes gets all its snapshots, however little room there is")
    func halfCloseOfOwed() throws {
        let harness = try ServerHarness.keeping { $0.queueBytesMax = 4 << 10 }
        let writer = harness.client()
        writer.open("/page")
        writer.dispatch(Page.Action.body(String(repeating: "x", count: 20_000)))
        harness.turn()
        let reader = harness.client()
        reader.socket.room = 0
        reader.subscribe("/page")
        reader.subscribe("/page", .value)
        harness.server.endInput(reader.id)
        harness.settle()
        reader.take()
        harness.settle()
        let kinds = reader.frames().map(\.kind)
        #expect(kinds.contains(.snapshot) && kinds.contains(.value))
        #expect(reader.socket.isClosed)
    }

    @Test("one user may have half of the waiting subscriptions, and an answer frees a place")
    func parkedShares() throws {
        let (harness, _) = try missed { $0.parkedRequestsMax = 4 }
        let past = Revision(epoch: 7, sequence: 50)
        let readers = (1...3).map { _ in harness.client(uid: 5) }
        for reader in readers { reader.subscribe("/visits", from: past) }
        harness.settle()
        #expect(harness.questions.map(\.uid) == [5, 5])
        #expect(readers[2].frames(.subscribed).count == 1)
        let other = harness.client(uid: 6)
        other.subscribe("/visits", from: past)
        harness.settle()
        #expect(harness.questions.map(\.uid) == [5, 5, 6])
        readers[0].disconnect()
        harness.server.answer(harness.questions[0].number, with: nil, at: harness.now)
        let next = harness.client(uid: 5)
        next.subscribe("/visits", from: past)
        harness.settle()
        #expect(harness.questions.map(\.uid) == [5, 5, 6, 5])
        for question in harness.questions.dropFirst() {
            harness.server.answer(question.number, with: nil, at: harness.now)
        }
        harness.settle()
        for reader in [readers[1], other, next] { #expect(reader.frames(.subscribed).count == 1) }
    }

    @Test("connections that come and go cannot exceed the limit of questions to the journal")
    func parkedAndGone() throws {
        let (harness, _) = try missed { $0.parkedRequestsMax = 4 }
        for _ in 1...20 {
            let reader = harness.client(uid: 5)
            reader.subscribe("/visits", from: Revision(epoch: 7, sequence: 50))
            harness.settle()
            reader.disconnect()
        }
        #expect(harness.questions.count == 2)
    }

    @Test("answers about the past share one limit, and a stalled one ends")
    func ceiling() throws {
        let harness = try ServerHarness.keeping { $0.answersBytesMax = 500_000 }
        // A socket does not take this much at once.
        let page = [UInt8](repeating: 0, count: 400_000).wireBytes()
        let (stopped, other) = (harness.client(), harness.client())
        _ = (stopped.frames(), other.frames())
        func answer(_ client: TestClient, _ number: UInt64) throws {
            ask(client, number)
            harness.turn()
            harness.server.answer(
                try #require(harness.inquiries.last), with: .success(page), at: harness.now)
            harness.settle()
        }
        stopped.socket.room = 0
        try answer(stopped, 1)
        try answer(other, 1)
        let refusal = try #require(other.frames().first)
        #expect(try refusal.kind == .refused && refusal.decode(Refusal.self).code == .busy)
        #expect(harness.server.memory.answerBytes < 500_000)
        // The answer of the stalled reader ends, and the refused question gets its room.
        harness.now += harness.server.limits.answerDeadline
        harness.server.tick(at: harness.now)
        harness.settle()
        try answer(other, 2)
        #expect(Set(other.frames(.answer).map(\.number)) == [2])
        stopped.take()
        harness.settle()
        #expect(stopped.frames().last?.kind == .refused)
    }

    @Test("an answer for a closed connection is dropped")
    func gone() throws {
        let harness = try ServerHarness.keeping()
        let client = harness.client()
        ask(client, 1)
        harness.turn()
        let inquiry = try #require(harness.inquiries.first)
        client.disconnect()
        harness.server.answer(inquiry, with: .success([0xf5]), at: harness.now)
        harness.settle()
        #expect(!harness.server.needsTurn)
    }
}
