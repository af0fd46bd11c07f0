import ReactorCore
import StockReactors
import Testing

@testable import ReactorClient
@testable import ReactorServer

/// Mirrors of values by their shape: ``ValueMirror`` and ``ValueSink``.
@Suite("ValueMirror", .timeLimit(.minutes(10)))
struct ValueMirrorTests {
    private typealias Counter = StockReactors.Counter

    @WireCodable
    struct Wide: Equatable, Sendable {
        var count: Int64 = 0
        var title = "none"
    }

    @WireCodable
    struct Empty: Equatable, Sendable {}

    @Test("a value is mirrored by its shape, whatever reactor it belongs to")
    func shape() async throws {
        let server = try LiveServer()
        let client = try await Client.connect(to: server.path)
        let state = try await client.mirror(value: OtherCounter.State.self, at: "/visits")
        let count = try await client.mirror(value: Int.self, at: "/visits/count")
        #expect(state.value.count == 0 && count.value == 0 && state.phase == .live)
        let visits = try await client.mirror(Counter.self, at: "/visits")
        #expect(await visits.dispatch(.increment(by: 4)).revision != nil)
        #expect(state.value.count == 4 && count.value == 4 && count.revision == visits.revision)
        var values = count.values().makeAsyncIterator()
        client.close()
        while await values.next() != nil {}
        #expect(count.value == 4 && count.phase == .failed(.ended))
    }

    @Test("a field that the value lacks, or the type lacks, ends the mirror and is named")
    func exact() async throws {
        let server = try LiveServer()
        let client = try await Client.connect(to: server.path)
        for (name, error) in [
            (
                "title",
                await #expect(throws: ClientError.self) {
                    _ = try await client.mirror(value: Wide.self, at: "/visits")
                }
            ),
            (
                "count",
                await #expect(throws: ClientError.self) {
                    _ = try await client.mirror(value: Empty.self, at: "/visits")
                }
            ),
        ] {
            guard case .incompatible("/visits", let fault) = error else {
                Issue.record("\(String(describing: error))")
                return
            }
            #expect("\(fault)".contains(name))
        }
        await server.until { $0.subscriptionCounts == [0] }
        client.close()
    }

    @Test("the values over time begin with the current one, and end with the client")
    func values() async throws {
        let server = try LiveServer()
        let client = try await Client.connect(to: server.path)
        let count = try await client.mirror(value: Int64.self, at: "/visits/count")
        var values = count.values().makeAsyncIterator()
        #expect(await values.next() == 0)
        _ = try await client.dispatch("/visits", Counter.Action.increment(by: 2))
        #expect(await values.next() == 2)
        client.close()
        #expect(await values.next() == nil)
    }

    @Test("without a value, an optional type is nil, and another fails")
    func absent() throws {
        let rig = try Rig(keepingHistoryOf: 7) { Portfolio() }
        let writer = rig.client()
        var results: [Result<ValueMirror<Int?>, ClientError>] = []
        var plain: [Result<ValueMirror<Int>, ClientError>] = []
        try rig.send(Portfolio.Action.open("build"), to: "/", by: writer)
        let path = "/projects/build/runs/a/progress"
        writer.machine.mirror(value: Int?.self, at: path) { results.append($0) }
        writer.machine.mirror(value: Int.self, at: path) { plain.append($0) }
        rig.run()
        let progress = try #require(try results.first?.get())
        #expect(progress.value == nil)
        guard case .failure(.incompatible)? = plain.first else {
            Issue.record("\(plain)")
            return
        }
        try rig.send(Project.Action.start(["a"]), by: writer)
        #expect(progress.value == 0)
        try rig.send(Project.Action.remove(["a"]), by: writer)
        #expect(progress.value == nil && progress.phase == .live)
    }

    @Test("a lost connection keeps the value, and the phase tells; a released mirror is left")
    func cut() throws {
        let rig = Rig()
        let client = rig.client()
        var result: Result<ValueMirror<Int64>, ClientError>?
        client.machine.mirror(value: Int64.self, at: "/visits/count") { result = $0 }
        rig.run()
        var mirror: ValueMirror<Int64>? = try #require(try result?.get())
        result = nil
        rig.cut(client)
        #expect(mirror?.phase == .connecting && mirror?.value == 0)
        rig.run()
        #expect(mirror?.phase == .live)
        mirror = nil
        rig.run()
        #expect(rig.server.connections.inOrder.allSatisfy { $0.subscriptions.isEmpty })
    }
}
