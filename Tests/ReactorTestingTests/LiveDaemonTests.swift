import ReactorClient
import ReactorCore
import ReactorTesting
import Testing

@Suite("A daemon behind a socket", .timeLimit(.minutes(1)))
struct LiveDaemonTests {
    @Test("clients of the usual kind are served, and come back when their connections were cut")
    func served() async throws {
        let daemon = try LiveDaemon(Counter())
        let client = try await Client.connect(to: daemon.path)
        let mirror = try await client.mirror(Counter.self, at: "/")
        _ = await mirror.dispatch(.increment(by: 2))
        #expect(mirror.state.count == 2)
        daemon.cut()
        let outcome = await mirror.dispatch(.increment(by: 3))
        #expect(outcome.revision?.sequence == 2)
        #expect(mirror.state.count == 5)
        client.close()
    }

    @Test("it ends with the last who holds it, and its socket goes")
    func end() async throws {
        var daemon: LiveDaemon? = try LiveDaemon(Counter())
        let path = try #require(daemon?.path)
        daemon = nil
        await #expect(throws: ClientError.self) { _ = try await Client.connect(to: path) }
    }
}
