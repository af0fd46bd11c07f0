import ReactorCore
import ReactorWire
import Testing

@testable import ReactorServer

@Suite("ServerFigures")
struct ServerFiguresTests {
    @Test("the figures count connections by user, actions, nodes and questions for the shell")
    func figures() throws {
        let harness = ServerHarness()
        let client = harness.client()
        client.open("/visits")
        harness.turn()
        client.ask(.metrics)
        harness.turn()
        let figures = harness.server.figures
        #expect(figures.connectionsByUID.values.reduce(0, +) == 1)
        #expect(figures.memory.connections == 1 && figures.memory.sessions == 1)
        #expect(figures.nodeCount == harness.server.tree.mountedCount)
        #expect(figures.questionsWaiting[.shell] == 1)
        #expect(figures.questionsWaiting[.soon] == 0 && figures.questionsWaiting[.late] == 0)
        #expect(figures.counters == harness.server.statistics)
        #expect(!figures.isDraining && figures.poisonedCount == 0)
        harness.server.drain()
        #expect(harness.server.figures.isDraining)
    }

    @Test("a question about the daemon is answered by the shell, also without a history")
    func question() throws {
        let harness = ServerHarness()
        let client = harness.client()
        client.ask(.metrics)
        harness.turn()
        let inquiry = try #require(harness.inquiries.first)
        #expect(inquiry.ask == .metrics && !inquiry.ask.isAboutPast)
        harness.server.answer(inquiry, with: .success("text".wireBytes()), at: harness.now)
        harness.settle()
        #expect(try #require(client.frames(.answer).first).decode(String.self) == "text")
    }
}
