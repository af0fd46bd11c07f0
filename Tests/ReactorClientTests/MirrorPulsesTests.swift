import ReactorCore
import Testing

@testable import ReactorClient

/// Writes its state as a whole.
private struct Doorbell: HandlingReactor {
    @WireCodable
    enum Action: Equatable, Sendable {
        case ring(String)
        case replace(String)
    }

    @WireCodable
    struct State: Equatable, Sendable {
        @Pulse var ring = ""
    }

    var initialState = State()

    func handle(_ action: Action, state: inout State) throws(Rejection) {
        switch action {
        case .ring(let visitor): state.ring = visitor
        case .replace(let visitor):
            state = State()
            state.ring = visitor
        }
    }
}

@Suite("MirrorPulses", .timeLimit(.minutes(10)))
struct MirrorPulsesTests {
    @Test("F59: a pulse arrives at each assignment, even of an equal value, and at no other change")
    func told() async throws {
        let server = try LiveServer(Album())
        let client = try await Client.connect(to: server.path)
        let album = try await client.mirror(Album.self, at: "/")
        var alerts = album.pulse(\.$alert).makeAsyncIterator()
        var reports = album.pulse(\.report).makeAsyncIterator()
        for _ in 0..<2 {
            _ = await album.dispatch(.count(1))
            _ = await album.dispatch(.alert("same"))
            #expect(await alerts.next() == "same")
        }
        _ = await album.dispatch(.report("done"))
        #expect(await reports.next() == "done")
        client.close()
        #expect(await alerts.next() == .none)
    }

    @Test("F59: a pulse arrives if it was assigned in a state that replaces another")
    func replaced() async throws {
        let server = try LiveServer(Album())
        let client = try await Client.connect(to: server.path)
        let album = try await client.mirror(Album.self, at: "/")
        var alerts = album.pulse(\.$alert).makeAsyncIterator()
        _ = await album.dispatch(.alert("first"))
        #expect(await alerts.next() == "first")
        _ = await album.dispatch(.restart(alert: "second"))
        client.close()
        #expect(await alerts.next() == "second")
        #expect(await alerts.next() == .none)
    }

    @Test("F59: a pulse arrives if it was assigned in a state that arrives as a whole")
    func replacedWhole() async throws {
        let server = try LiveServer(Doorbell())
        let client = try await Client.connect(to: server.path)
        let bell = try await client.mirror(Doorbell(), at: "/")
        var rings = bell.pulse(\.$ring).makeAsyncIterator()
        for visitor in ["Ann", "Bob", "Ann"] {
            #expect(await bell.dispatch(.replace(visitor)).revision != nil)
            #expect(await rings.next() == visitor)
        }
        #expect(await bell.dispatch(.ring("Bob")).revision != nil)
        #expect(await bell.dispatch(.ring("Bob")).revision != nil)
        client.close()
        #expect(await rings.next() == "Bob")
        #expect(await rings.next() == .none)
    }

    @Test("F59: a reader that starts late, or reconnects, gets no earlier pulse")
    func replay() async throws {
        let server = try LiveServer(Album())
        let client = try await Client.connect(to: server.path, options: .brisk)
        let album = try await client.mirror(Album.self, at: "/")
        _ = await album.dispatch(.alert("first"))
        var late = album.pulse(\.$alert).makeAsyncIterator()
        await server.cut()
        _ = await album.dispatch(.count(2))
        _ = await album.dispatch(.alert("second"))
        #expect(await late.next() == "second")
        let other = try await Client.connect(to: server.path)
        let newcomer = try await other.mirror(Album.self, at: "/")
        #expect(newcomer.alert == "second")
        var alerts = newcomer.pulse(\.$alert).makeAsyncIterator()
        _ = await newcomer.dispatch(.alert("third"))
        #expect(await alerts.next() == "third")
        client.close()
        other.close()
    }

    @Test("F59: a pulse that was missed while the connection was lost arrives once")
    func missed() async throws {
        let rig = Rig(tree: Tree(Album(), epoch: 7))
        let (reader, writer) = (rig.client(), rig.client())
        var result: Result<ReactorClient.Mirror<Album>, ClientError>?
        reader.machine.mirror(Album(), at: "/") { result = $0 }
        let node = try writer.open("/", rig)
        let album = try #require(try result?.get())
        var alerts = album.pulse(\.$alert).makeAsyncIterator()
        rig.cut(reader)
        try writer.machine.dispatch(Album.Action.alert("while away"), to: node)
        rig.run()
        #expect(await alerts.next() == "while away")
    }

    @Test("F59: the count of another history is a new start, and no pulse")
    func otherHistory() async throws {
        let server = try LiveServer(Album())
        let client = try await Client.connect(to: server.path, options: .brisk)
        let album = try await client.mirror(Album.self, at: "/")
        _ = await album.dispatch(.alert("old"))
        let alerts = album.pulse(\.$alert)
        let first = Task {
            for await alert in alerts { return alert }
            return nil
        }
        server.stop()
        let next = try LiveServer(in: server.folder, epoch: 8, Album())
        await album.until { $0.revision.epoch == 8 && $0.isCurrent }
        _ = await album.dispatch(.count(1))
        var later = album.pulse(\.$alert).makeAsyncIterator()
        _ = await album.dispatch(.alert("new"))
        #expect(await first.value == "new")
        #expect(await later.next() == "new")
        client.close()
        next.stop()
    }
}
