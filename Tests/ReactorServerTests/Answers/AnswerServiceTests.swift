import ReactorBytes
import ReactorCore
import ReactorWire
import Testing

@testable import ReactorServer

/// Answers, tested without a server.
struct AnswerServiceTests {
    private func ask(_ ask: Question, _ bench: OrganBench, as number: UInt64 = 1) {
        let body = ask.wireBytes()
        bench.answers.ask(
            FrameHeader(kind: .ask, number: number), body.span, of: bench.connection)
    }

    @Test("a small question is answered at once, and is not counted as waiting")
    func atOnce() throws {
        let bench = try OrganBench()
        ask(.get(path: "/visits"), bench)
        #expect(bench.endTurn().map(\.kind) == [.answer])
        #expect(bench.connection.requests.isEmpty && !bench.answers.isDue)
    }

    @Test("a question that exceeds the share waits, and is encoded outside the loop")
    func late() throws {
        let bench = try OrganBench { $0.answerBytesPerTurnMax = 1 }
        bench.answers.grow(by: 100)
        ask(.get(path: "/visits"), bench)
        #expect(bench.answers.isDue && bench.answers.hasSoon)
        #expect(bench.connection.requests.questionCount == 1)
        bench.answers.answerWaiting()
        #expect(bench.takeOrders() == ["encode"] && bench.endTurn().isEmpty)
        let node = try #require(try bench.tree.node(at: SlicePath("/visits")))
        bench.answers.encoded(node.captureValue(at: []).encode())
        #expect(bench.answers.isDue)
        bench.answers.answerWaiting()
        #expect(bench.endTurn().map(\.kind) == [.answer] && !bench.answers.isDue)
    }

    @Test("a path without a node is refused, and so is the past without a history")
    func refused() throws {
        let bench = try OrganBench()
        ask(.get(path: "/visit"), bench)
        ask(.snapshot, bench, as: 2)
        let codes = try bench.endTurn().map { try $0.decode(Refusal.self).code }
        #expect(codes == [.notFound, .history])
    }

    @Test("types are answered at once, also for a collection without children, and not for a field")
    func types() throws {
        let bench = try OrganBench { $0.answerBytesPerTurnMax = 1 }
        ask(.types(path: "/visits"), bench)
        ask(.types(path: "/house/rooms"), bench, as: 2)
        ask(.types(path: "/page/title"), bench, as: 3)
        let frames = bench.endTurn()
        #expect(frames.map(\.kind) == [.answer, .answer, .refused])
        let expected = NodeTypes(
            reactor: "Tally", formerNames: [], fingerprint: Tally.fingerprint,
            state: Tally.State.wireSchema, byValue: false)
        #expect(try frames[0].decode(NodeTypes.self) == expected)
        var children = expected
        children.reactor = "collection of Tally"
        #expect(try frames[1].decode(NodeTypes.self) == children)
    }

    @Test("questions about the past are limited, and each answer makes room")
    func past() throws {
        let bench = try OrganBench(keepsHistory: true)
        for number in 1...UInt64(Inquiry.perConnectionMax + 1) { ask(.snapshot, bench, as: number) }
        #expect(bench.takeOrders() == [String](repeating: "inquire", count: 8))
        #expect(bench.endTurn().map(\.kind) == [.refused])
        bench.answers.answer(1, with: .success([0]), to: bench.connection)
        #expect(bench.connection.requests.inquiryCount == 7)
        #expect(bench.endTurn().map(\.number) == [1])
    }

    @Test("a large answer is kept until it has left, and ended if it does not move")
    func large() throws {
        let bench = try OrganBench(keepsHistory: true) { $0.answersBytesMax = 10 }
        ask(.snapshot, bench, as: 1)
        ask(.snapshot, bench, as: 2)
        let bytes = [UInt8](repeating: 7, count: 8_000)
        bench.answers.answer(1, with: .success(bytes), to: bench.connection)
        #expect(bench.answers.table.byteCount == 8_000)
        bench.answers.answer(2, with: .success(bytes), to: bench.connection)
        #expect(bench.endTurn().map(\.kind) == [.refused], "there is no room for two")
        bench.orders.begin(at: bench.limits.answerDeadline)
        bench.answers.cutStalled(bench.connections)
        #expect(bench.answers.table.byteCount == 0 && bench.connection.requests.isEmpty)
        #expect(bench.endTurn().map(\.number) == [1])
    }
}
