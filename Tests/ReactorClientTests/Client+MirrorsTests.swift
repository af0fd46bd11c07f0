import ReactorCore
import StockReactors
import Testing

@testable import ReactorClient

@Suite("Mirrors of a client", .timeLimit(.minutes(10)))
struct ClientMirrorsTests {
    private typealias Counter = StockReactors.Counter

    @Test("the same path and type give the same mirror while a reference to it exists")
    func sameMirror() async throws {
        let server = try LiveServer()
        let client = try await Client.connect(to: server.path)
        let visits = try await client.mirror(Counter.self, at: "/visits")
        #expect(try await client.mirror(Counter(), at: "/visits") === visits)
        #expect(try await client.mirror(Counter.self, at: "/%76isits") === visits)
        let other = try await client.mirror(Other.Counter.self, at: "/visits")
        #expect(other.count == visits.count)
        let value = try await client.mirror(value: Counter.State.self, at: "/visits")
        let again = try await client.mirror(value: Counter.State.self, at: "/%76isits")
        #expect(value === again && value.value == visits.state)
        #expect(try await client.mirror(Counter.self, at: "/other") !== visits)
        client.close()
    }

    @Test("the last reference to a mirror ends its subscription, and a new mirror can be made")
    func release() async throws {
        let server = try LiveServer()
        let client = try await Client.connect(to: server.path)
        let other = try await client.mirror(Counter.self, at: "/other")
        do {
            let visits = try await client.mirror(Counter.self, at: "/visits")
            #expect(await visits.dispatch(.increment(by: 1)).revision != nil)
            #expect(await server.subscriptionCounts() == [2])
        }
        await server.until { $0.subscriptionCounts == [1] }
        let visits = try await client.mirror(Counter.self, at: "/visits")
        #expect(visits.count == 1)
        #expect(await visits.dispatch(.increment(by: 1)).revision != nil)
        #expect(visits.count == 2 && other.revision == visits.revision)
        #expect(await server.subscriptionCounts() == [2])
        client.close()
    }

    @Test("a client follows a mirror while a reader of its states holds it")
    func heldByReader() async throws {
        let server = try LiveServer()
        let client = try await Client.connect(to: server.path)
        var counts = try await states(of: client)
        #expect(await counts.next() == 0)
        _ = try await client.dispatch("/visits", Counter.Action.increment(by: 1))
        #expect(await counts.next() == 1)
        #expect(await server.subscriptionCounts() == [1])
        client.close()
    }

    private func states(
        of client: Client
    ) async throws -> sending MirrorStates<Counter, Int64>.Iterator {
        try await client.mirror(Counter.self, at: "/visits").states(\.count).makeAsyncIterator()
    }

    @Test("two mirrors are read at one revision, however fast clients write to both")
    func neverTorn() async throws {
        let server = try LiveServer()
        let client = try await Client.connect(to: server.path)
        let writer = try await Client.connect(to: server.path)
        let visits = try await client.mirror(Counter.self, at: "/visits")
        let other = try await client.mirror(Counter.self, at: "/other")
        let writing = Task {
            for _ in 0..<300 {
                let amount = Int64(1)
                let outcome = try await writer.batch([
                    ("/visits", WireEmbedded(Counter.Action.increment(by: amount))),
                    ("/other", WireEmbedded(Counter.Action.decrement(by: amount))),
                ])
                #expect(outcome.revision != nil)
            }
        }
        var seen: Set<Int64> = []
        while !seen.contains(300) {
            let (first, second) = client.read(visits, other) { ($0.count, $1.count) }
            #expect(first == -second)
            seen.insert(first)
            await Task.yield()
        }
        #expect(seen.count > 2)
        try await writing.value
        client.close()
        writer.close()
    }

    @Test("where only the mutations differ, a mirror follows the value, and its phase says so")
    func fallBack() async throws {
        let server = try LiveServer()
        let client = try await Client.connect(to: server.path)
        _ = try await client.dispatch("/visits", Counter.Action.increment(by: 3))
        let mirror = try await client.mirror(Other.Counter.self, at: "/visits")
        #expect(mirror.count == 3 && mirror.isCurrent && mirror.id == nil)
        #expect(mirror.phase == .differing(TypeDifference()))
        let outcome = try await client.dispatch("/visits", Counter.Action.increment(by: 4))
        try await mirror.reached(try #require(outcome.revision))
        #expect(mirror.count == 7)
        await server.cut()
        let counter = try await client.mirror(Counter.self, at: "/visits")
        #expect(await counter.dispatch(.increment(by: 1)).revision != nil)
        #expect(mirror.count == 8 && counter.count == 8 && counter.phase == .live)
        #expect(mirror.phase == .differing(TypeDifference()))
        client.close()
    }

    @Test("a mirror of another reactor fails and names both, even if the value has its fields")
    func otherName() async throws {
        let server = try LiveServer()
        let client = try await Client.connect(to: server.path)
        await #expect(
            throws: ClientError.otherReactor(
                path: "/visits", expected: "OtherCounter", actual: "Counter")
        ) {
            _ = try await client.mirror(OtherCounter.self, at: "/visits")
        }
        await server.until { $0.subscriptionCounts == [0] }
        client.close()
    }

    @Test("a mirror of another type, whose fields all have defaults, fails and names both")
    func otherType() async throws {
        let server = try LiveServer()
        let client = try await Client.connect(to: server.path)
        do throws(ClientError) {
            let mirror = try await client.mirror(DefaultedStats.self, at: "/visits")
            Issue.record("the counter is shown as \(mirror.state)")
        } catch {
            #expect(
                error
                    == .otherReactor(
                        path: "/visits", expected: "DefaultedStats", actual: "Counter"))
        }
        await server.until { $0.subscriptionCounts == [0] }
        client.close()
    }

    @Test("a field that the daemon lacks is no data: its default fails, or is asked for")
    func laterVersion() async throws {
        let server = try LiveServer()
        let client = try await Client.connect(to: server.path)
        _ = try await client.dispatch("/visits", Counter.Action.increment(by: 3))
        let error = await #expect(throws: ClientError.self) {
            _ = try await client.mirror(Later.Counter.self, at: "/visits")
        }
        #expect(
            error
                == .incompatible(path: "/visits", WireError(.missingField("title"), at: 0)))
        #expect(error?.description.contains("missing: .defaults") == true)
        let mirror = try await client.mirror(
            Later.Counter.self, at: "/visits", missing: .defaults)
        #expect(mirror.state == Later.Counter.State(count: 3, title: "none"))
        guard case .differing(let difference) = mirror.phase else {
            Issue.record("\(mirror.phase)")
            return
        }
        #expect(difference.missing == ["title"] && difference.skipped.isEmpty)
        await #expect(throws: ClientError.self) {
            _ = try await client.mirror(Later.Counter.self, at: "/visits")
        }
        client.close()
    }

    @Test("an optional field that the daemon lacks is nil, and never another default")
    func optionalField() async throws {
        let server = try LiveServer()
        let client = try await Client.connect(to: server.path)
        let mirror = try await client.mirror(Open.Counter.self, at: "/visits")
        #expect(mirror.state == Open.Counter.State(count: 0, note: nil))
        guard case .differing(let difference) = mirror.phase else {
            Issue.record("\(mirror.phase)")
            return
        }
        #expect(difference.missing == ["note"])
        await #expect(
            throws: ClientError.incompatible(
                path: "/visits", WireError(.missingField("note"), at: 0))
        ) {
            _ = try await client.mirror(Eager.Counter.self, at: "/visits")
        }
        client.close()
    }

    @Test("a field that the mirror lacks is skipped, and the phase lists it")
    func skippedField() async throws {
        let server = try LiveServer()
        let client = try await Client.connect(to: server.path)
        let mirror = try await client.mirror(Bare.Counter.self, at: "/visits")
        guard case .differing(let difference) = mirror.phase else {
            Issue.record("\(mirror.phase)")
            return
        }
        #expect(difference.skipped == ["count"] && difference.description == "skipped: count")
        client.close()
    }

    @Test("a renamed reactor is mirrored by its former name, whichever program is the later one")
    func renamed() async throws {
        let server = try LiveServer()
        let client = try await Client.connect(to: server.path)
        let gate = try await client.mirror(Turnstile.self, at: "/visits")
        #expect(gate.count == 0 && gate.isCurrent)
        client.close()
        let later = try LiveServer(Upgraded.Renamed())
        let old = try await Client.connect(to: later.path)
        let visits = try await old.mirror(Counter.self, at: "/visits")
        #expect(visits.count == 0 && visits.isCurrent)
        await #expect(
            throws: ClientError.otherReactor(
                path: "/visits", expected: "OtherCounter", actual: "Turnstile")
        ) {
            _ = try await old.mirror(OtherCounter.self, at: "/visits")
        }
        old.close()
    }

    @Test("a mirror follows a daemon of another version after a restart, and says how it differs")
    func upgrade() async throws {
        let first = try LiveServer()
        let client = try await Client.connect(to: first.path)
        let visits = try await client.mirror(Counter.self, at: "/visits")
        let later = try await client.mirror(
            Later.Counter.self, at: "/visits", missing: .defaults)
        let value = try await client.mirror(value: Counter.State.self, at: "/visits")
        #expect(visits.phase == .live && later.phase != .live && later.isCurrent)
        first.stop()
        let second = try LiveServer(in: first.folder, epoch: 8, Upgraded.House())
        await visits.until { $0.isCurrent && $0.revision.epoch == 8 }
        guard case .differing(let difference) = visits.phase else {
            Issue.record("\(visits.phase)")
            return
        }
        #expect(difference.skipped == ["title"] && difference.missing.isEmpty)
        #expect(visits.id == nil)
        await later.until { $0.phase == .live }
        #expect(later.id != nil && later.revision == visits.revision)
        #expect(await later.dispatch(.rename("a")).revision != nil)
        #expect(later.title == "a" && later.revision == visits.revision)
        // The new field is unknown to the exact type.
        #expect("\(value.phase)".contains("title"))
        second.stop()
        let third = try LiveServer(in: first.folder, epoch: 9)
        await visits.until { $0.phase == .live && $0.revision.epoch == 9 }
        await later.until { $0.isCurrent && $0.revision.epoch == 9 }
        #expect(visits.id != nil && later.title == "none" && later.phase != .live)
        client.close()
        third.stop()
    }

    @Test("a mirror ends when the daemon has another reactor at its path after a restart")
    func replaced() async throws {
        let first = try LiveServer()
        let client = try await Client.connect(to: first.path)
        let visits = try await client.mirror(Counter.self, at: "/visits")
        first.stop()
        let second = try LiveServer(in: first.folder, epoch: 8, OtherHouse())
        await visits.until {
            $0.phase
                == .failed(
                    .otherReactor(path: "/visits", expected: "Counter", actual: "OtherCounter"))
        }
        client.close()
        second.stop()
    }

    @Test("where the state cannot be read as a value either, the mirror fails and names the field")
    func incompatible() async throws {
        let server = try LiveServer()
        let client = try await Client.connect(to: server.path)
        do throws(ClientError) {
            _ = try await client.mirror(Named.Counter.self, at: "/visits")
            Issue.record("a counter has no title")
        } catch {
            guard case .incompatible(let path, let reason) = error else {
                Issue.record("expected incompatible, got \(error)")
                return
            }
            #expect(path == "/visits" && "\(reason)".contains("title"))
            #expect("\(error)".contains("/visits") && "\(error)".contains("title"))
        }
        await server.until { $0.subscriptionCounts == [0] }
        try await client.ping()
        client.close()
    }

    @Test("a path without a node is refused with the nearest path")
    func nowhere() async throws {
        let server = try LiveServer()
        let client = try await Client.connect(to: server.path)
        let error = await #expect(throws: ClientError.self) {
            try await client.mirror(Counter.self, at: "/visit")
        }
        guard case .refused(let refusal) = error else {
            Issue.record("expected a refusal, got \(String(describing: error))")
            return
        }
        #expect(refusal.code == .notFound && refusal.nearest == "/visits")
        client.close()
    }
}
