import ReactorCore
import ReactorServer
import ReactorThreads
import Testing

@testable import ReactorClient

@Suite("Bindings of a mirror", .timeLimit(.minutes(10)))
struct MirrorBindingsTests {
    private func start(
        _ gates: Finder.Gates = Finder.Gates()
    ) async throws -> (LiveServer, Client, Mirror<Finder>) {
        let server = try LiveServer(Finder(gates))
        let client = try await Client.connect(to: server.path)
        return (server, client, try await client.mirror(Finder(), at: "/"))
    }

    @Test("F66: setting a binding sends the action made of the value; getting it reads the mirror")
    func action() async throws {
        let (server, client, finder) = try await start()
        let text = finder.binding(\.text) { .search($0) }
        await server.hold()
        text.wrappedValue = "swift"
        #expect(text.wrappedValue == "")
        await server.release()
        await finder.until { $0.text == "swift" }
        #expect(text.wrappedValue == "swift")
        client.close()
    }

    @Test("F67: a binding with one action sends it for every written value")
    func constant() async throws {
        let (server, client, finder) = try await start()
        let isOn = finder.binding(\.isOn, sending: .toggle)
        isOn.wrappedValue = false
        try await client.drain()
        #expect(isOn.wrappedValue)
        isOn.wrappedValue = true
        try await client.drain()
        #expect(!isOn.wrappedValue)
        client.close()
        withExtendedLifetime(server) {}
    }

    @Test("F69, F70: a field's binding shows a written value at once, then the reactor's result")
    func field() async throws {
        let (server, client, finder) = try await start()
        let limit = finder.binding(\.limit)
        await server.hold()
        limit.wrappedValue = 7
        #expect(limit.wrappedValue == 7)
        limit.wrappedValue = 700
        #expect(limit.wrappedValue == 100)
        await server.release()
        try await client.drain()
        #expect(finder.limit == 100)
        #expect(await server.on { $0.server.tree.revision.sequence } == 2)
        client.close()
    }

    @Test("F70: a binding that previews shows a written value at once")
    func previewed() async throws {
        let (server, client, finder) = try await start()
        await server.hold()
        let text = finder.binding(\.text, isPreviewed: true) { .search($0) }
        text.wrappedValue = "now"
        #expect(text.wrappedValue == "now")
        client.close()
    }

    @Test("F72: a binding reads through a map, and writes to an action or to a function")
    func mapped() async throws {
        let (server, client, finder) = try await start()
        let size = finder.binding(
            \.text, map: { $0.count }, action: { .search(String(repeating: "x", count: $0)) })
        size.wrappedValue = 3
        try await client.drain()
        #expect(size.wrappedValue == 3 && finder.text == "xxx")
        let written = Guarded<[String]>([])
        let text = finder.binding(\.text, set: { new in written.withLock { $0.append(new) } })
        let loud = finder.binding(
            \.text, map: { $0.uppercased() }, set: { new in written.withLock { $0.append(new) } })
        text.wrappedValue = "a"
        loud.wrappedValue = "b"
        #expect(written.withLock { $0 } == ["a", "b"])
        #expect(text.wrappedValue == "xxx" && loud.wrappedValue == "XXX")
        client.close()
        withExtendedLifetime(server) {}
    }

    @Test("F49, F71: a binding with a cancel id ends the search of the keystroke before")
    func cancelled() async throws {
        let gates = Finder.Gates()
        let (server, client, finder) = try await start(gates)
        let text = finder.binding(\.text, cancel: "typing") { .search($0) }
        text.wrappedValue = "s"
        // An effect that is cancelled before its commit never begins.
        try await client.drain()
        text.wrappedValue = "sw"
        try await client.drain()
        #expect(await gates.done.until(1) == ["s"])
        gates.open("sw")
        await finder.until { !$0.found.isEmpty }
        #expect(finder.found == ["sw"])
        client.close()
        withExtendedLifetime(server) {}
    }

    @Test("F49: a client cancels by name the effects that it started, and no other client's")
    func cancelAlone() async throws {
        let gates = Finder.Gates()
        let (server, client, finder) = try await start(gates)
        let other = try await Client.connect(to: server.path)
        let others = try await other.mirror(Finder(), at: "/")
        #expect(others.send(.search("theirs"), cancel: "typing"))
        try await other.drain()
        #expect(finder.send(.search("mine"), cancel: "typing"))
        try await client.drain()
        let outcome = await finder.cancel("typing")
        #expect(outcome.revision?.sequence == 3)
        #expect(await gates.done.until(1) == ["mine"])
        gates.open("theirs")
        await finder.until { !$0.found.isEmpty }
        #expect(finder.found == ["theirs"])
        client.close()
        other.close()
    }
}
