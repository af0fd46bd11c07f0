import ReactorCore
import ReactorServer
import ReactorWire
import Testing

/// Questions about the past, which a server hands on.
@Suite("Inquiry")
struct InquiryTests {
    private func ask(_ client: TestClient, _ number: UInt64) {
        var writer = WireWriter()
        let frame = writer.beginFrame(.ask, number: number)
        Ask.snapshot.encode(into: &writer)
        writer.endFrame(at: frame)
        client.send(writer.bytes)
    }

    @Test("a server that keeps no history refuses them")
    func memory() throws {
        let harness = ServerHarness()
        let client = harness.client()
        ask(client, 1)
        harness.turn()
        #expect(try #require(client.frames(.refused).first).decode(Refusal.self).code == .history)
        #expect(harness.inquiries.isEmpty)
    }

    @Test("they are answered later, and a connection waits for so many at a time")
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

    @Test("W22: one that was asked before a half-close is answered, then comes the close")
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

    @Test("one whose connection has gone is answered to nobody")
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
