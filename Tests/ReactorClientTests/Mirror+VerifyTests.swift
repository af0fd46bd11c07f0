import ReactorCore
import StockReactors
import Testing

@testable import ReactorClient

@Suite("Mirrors that are verified", .timeLimit(.minutes(10)))
struct MirrorVerifyTests {
    private typealias Counter = StockReactors.Counter

    @Test("C91: a mirror verifies itself while other clients write")
    func verified() async throws {
        let server = try LiveServer()
        let client = try await Client.connect(to: server.path)
        let visits = try await client.mirror(Counter.self, at: "/visits")
        let writing = Task {
            for _ in 0..<200 { _ = await visits.dispatch(.increment(by: 1)) }
        }
        for _ in 0..<50 { #expect(try await visits.verify()) }
        await writing.value
        #expect(try await visits.verify())
        #expect(client.statistics.verifications == 51)
        #expect(client.statistics.resynchronisations == 0)
        client.close()
        await #expect(throws: ClientError.ended) { try await visits.verify() }
    }

    @Test("C90, C91: a mirror has its client's notices, including the rollbacks")
    func news() async throws {
        let first = try LiveServer()
        let client = try await Client.connect(to: first.path, options: .brisk)
        let visits = try await client.mirror(Counter.self, at: "/visits")
        #expect(await visits.dispatch(.increment(by: 5)).revision?.sequence == 1)
        var news = visits.news.makeAsyncIterator()
        let rollbacks = client.notices.rollbacks
        var rollback = rollbacks.makeAsyncIterator()
        first.stop()
        let second = try LiveServer(in: first.folder, epoch: 8)
        let expected = Rollback(
            from: Revision(epoch: 7, sequence: 1), to: Revision(epoch: 8, sequence: 0))
        #expect(await news.next() == .rolledBack(from: expected.from, to: expected.to))
        #expect(try await rollback.next() == expected)
        #expect(client.statistics.rollbacks == 1)
        client.close()
        second.stop()
    }
}
