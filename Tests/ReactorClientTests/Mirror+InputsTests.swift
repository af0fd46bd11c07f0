import ReactorCore
import StockReactors
import Testing

@testable import ReactorClient

@Suite("Inputs of a mirror", .timeLimit(.minutes(10)))
struct MirrorInputsTests {
    private struct Broken: Error {}

    @Test("F26, F82: a mirror sends a sequence of actions; its end or failure ends nothing else")
    func ends() async throws {
        let server = try LiveServer()
        let client = try await Client.connect(to: server.path)
        let visits = try await client.mirror(StockReactors.Counter.self, at: "/visits")
        let (ending, end) = AsyncStream.makeStream(of: StockReactors.Counter.Action.self)
        let (failing, fail) = AsyncThrowingStream.makeStream(
            of: StockReactors.Counter.Action.self)
        let first = visits.connect(ending)
        let second = visits.connect(failing)
        end.yield(.increment(by: 1))
        fail.yield(.increment(by: 10))
        fail.yield(.decrement(by: .min))
        fail.yield(.increment(by: 10))
        end.finish()
        fail.finish(throwing: Broken())
        await first.ended()
        await second.ended()
        #expect(visits.count == 21)
        #expect(await visits.dispatch(.increment(by: 1)).revision != nil)
        #expect(visits.count == 22 && visits.isCurrent)
        client.close()
    }

    @Test("F26: a dropped input continues, and a cancelled one does not")
    func cancelled() async throws {
        let server = try LiveServer()
        let client = try await Client.connect(to: server.path)
        let visits = try await client.mirror(StockReactors.Counter.self, at: "/visits")
        let (actions, more) = AsyncStream.makeStream(of: StockReactors.Counter.Action.self)
        visits.connect(actions)
        more.yield(.increment(by: 1))
        await visits.until { $0.count == 1 }
        let (others, another) = AsyncStream.makeStream(of: StockReactors.Counter.Action.self)
        let input = visits.connect(others)
        input.cancel()
        another.yield(.increment(by: 10))
        await input.ended()
        #expect(await visits.dispatch(.increment(by: 1)).revision != nil)
        #expect(visits.count == 2)
        client.close()
    }
}
