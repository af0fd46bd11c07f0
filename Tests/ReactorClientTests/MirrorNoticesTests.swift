import Observation
import ReactorCore
import StockReactors
import Testing

@testable import ReactorClient

/// Counts notifications by name, from any thread.
private final class Bells: Sendable {
    private let rung = Notes<String>()

    var all: [String] { rung.all }

    /// All notifications, once there are `count` of them.
    func until(_ count: Int) async -> [String] { await rung.until(count) }

    /// Counts the next change of the values that `read` reads.
    func hang(_ name: String, _ read: () -> Void) {
        withObservationTracking(read) { [rung] in rung.add(name) }
    }
}

@Suite("MirrorNotices", .timeLimit(.minutes(10)))
struct MirrorNoticesTests {
    @Test("F56: a change of a field wakes its readers, and other changes do not")
    func fields() async throws {
        let server = try LiveServer(Album())
        let client = try await Client.connect(to: server.path)
        let album = try await client.mirror(Album.self, at: "/")
        let bells = Bells()
        bells.hang("title") { _ = album.title }
        bells.hang("count") { _ = album.count }
        bells.hang("pages") { _ = album.pages }
        bells.hang("artist") { _ = album.cover.artist }
        bells.hang("state") { _ = album.state }
        _ = await album.dispatch(.count(1))
        #expect(bells.all.sorted() == ["count", "state"])
        _ = await album.dispatch(.put(key: "a", value: 1))
        #expect(bells.all.sorted() == ["count", "pages", "state"])
        _ = await album.dispatch(.title("new"))
        _ = await album.dispatch(.cover(Album.Cover(artist: "x")))
        #expect(bells.all.sorted() == ["artist", "count", "pages", "state", "title"])
        client.close()
    }

    @Test("F70: a previewed action wakes the readers of its fields only")
    func previewed() throws {
        let rig = Rig(tree: Tree(Album(), epoch: 7))
        let (client, other) = (rig.client(), rig.client())
        let (node, otherNode) = (try client.open("/", rig), try other.open("/", rig))
        var result: Result<ReactorClient.Mirror<Album>, ClientError>?
        client.machine.mirror(Album(), at: "/") { result = $0 }
        rig.run()
        let album = try #require(try result?.get())
        let bells = Bells()
        func hang() {
            bells.hang("title") { _ = album.title }
            bells.hang("count") { _ = album.count }
            bells.hang("pages") { _ = album.pages }
        }
        hang()
        try client.machine.submit(OutgoingAction(.count(5), previewedOn: album, to: node))
        #expect(bells.all == ["count"] && album.count == 5)
        bells.hang("count") { _ = album.count }
        rig.run()
        #expect(bells.all == ["count", "count"] && album.count == 5)
        // Another client's change wakes the readers of that field, and of the fields that a preview
        // on top of the change decides.
        try other.machine.dispatch(Album.Action.title("new"), to: otherNode)
        try client.machine.submit(OutgoingAction(.count(6), previewedOn: album, to: node))
        rig.run()
        #expect(album.title == "new" && album.count == 6)
        #expect(bells.all == ["count", "count", "title"])
    }

    @Test(
        "F70: a previewed action wakes only the readers of its field, whatever the field's kind",
        arguments: [
            (Album.Action.title("x"), "title"), (.count(1), "count"),
            (.put(key: "a", value: 1), "pages"), (.cover(Album.Cover(artist: "x")), "cover"),
            (.alert("x"), "alert"), (.report("x"), "report"),
        ])
    func previewedKinds(_ action: Album.Action, _ field: String) throws {
        let rig = Rig(tree: Tree(Album(), epoch: 7))
        let client = rig.client()
        let node = try client.open("/", rig)
        var result: Result<ReactorClient.Mirror<Album>, ClientError>?
        client.machine.mirror(Album(), at: "/") { result = $0 }
        rig.run()
        let album = try #require(try result?.get())
        let slices = (album.slice(\.title), album.slice(\.pages), album.slice(\.cover.size))
        let bells = Bells()
        func hang() {
            bells.hang("title") { _ = album.title }
            bells.hang("count") { _ = album.count }
            bells.hang("pages") { _ = album.pages }
            bells.hang("cover") { _ = album.cover }
            bells.hang("alert") { _ = album.alert }
            bells.hang("report") { _ = album.report }
            bells.hang("slice of title") { _ = slices.0.value }
            bells.hang("slice of pages") { _ = slices.1.value }
            bells.hang("slice of size") { _ = slices.2.value }
        }
        hang()
        let expected = ["title", "pages"].contains(field) ? [field, "slice of \(field)"] : [field]
        try client.machine.submit(OutgoingAction(action, previewedOn: album, to: node))
        #expect(bells.all.sorted() == expected.sorted())
        rig.run()
        #expect(bells.all.sorted() == expected.sorted())
    }

    @Test("F56: a field that is set to an equal value wakes no reader")
    func equal() async throws {
        let server = try LiveServer(Album())
        let client = try await Client.connect(to: server.path)
        let album = try await client.mirror(Album.self, at: "/")
        let bells = Bells()
        bells.hang("title") { _ = album.title }
        bells.hang("state") { _ = album.state }
        _ = await album.dispatch(.title(""))
        #expect(bells.all.isEmpty)
        client.close()
    }

    @Test("F57: reading an ignored field registers nothing, and its changes wake no reader")
    func ignored() async throws {
        let server = try LiveServer(Album())
        let client = try await Client.connect(to: server.path)
        let album = try await client.mirror(Album.self, at: "/")
        let bells = Bells()
        bells.hang("noise") { _ = album.noise }
        bells.hang("state") { _ = album.state }
        _ = await album.dispatch(.noise(5))
        #expect(bells.all.isEmpty && album.noise == 5)
        _ = await album.dispatch(.count(1))
        #expect(bells.all == ["state"])
        client.close()
    }

    @Test("F57: each process has its own value of a field that is not transmitted")
    func notTransmitted() async throws {
        let server = try LiveServer(Album())
        let client = try await Client.connect(to: server.path)
        let first = try await client.mirror(Album.self, at: "/")
        _ = await first.dispatch(.count(1))
        let other = try await Client.connect(to: server.path)
        let late = try await other.mirror(Album.self, at: "/")
        _ = await first.dispatch(.count(2))
        #expect(first.cache == 2 && first.count == 2)
        try await late.reached(first.revision)
        #expect(late.cache == 1 && late.count == 2)
        client.close()
        other.close()
    }

    @Test("F56: a snapshot after a lost connection, and the end, wake the readers of every field")
    func whole() async throws {
        let server = try LiveServer(Album())
        let client = try await Client.connect(to: server.path, options: .brisk)
        let album = try await client.mirror(Album.self, at: "/")
        _ = await album.dispatch(.title("old"))
        let bells = Bells()
        bells.hang("title") { _ = album.title }
        server.stop()
        let next = try LiveServer(in: server.folder, epoch: 8, Album())
        await album.until { $0.revision.epoch == 8 }
        // Readers are woken after the state has changed.
        #expect(await bells.until(1) == ["title"] && album.title == "")
        bells.hang("count") { _ = album.count }
        client.close()
        #expect(await bells.until(2) == ["title", "count"])
        next.stop()
    }

    @Test("each change of a state without tracking wakes the readers of any field")
    func untracked() async throws {
        let server = try LiveServer()
        let client = try await Client.connect(to: server.path)
        let visits = try await client.mirror(StockReactors.Counter.self, at: "/visits")
        let bells = Bells()
        bells.hang("count") { _ = visits.count }
        _ = await visits.dispatch(.increment(by: 0))
        #expect(bells.all == ["count"])
        client.close()
    }

    @Test("F61: fields are read by name, nested ones too, and a pulse by its value")
    func dynamicMembers() async throws {
        let server = try LiveServer(Album(pageCount: 2))
        let client = try await Client.connect(to: server.path)
        let album = try await client.mirror(Album(pageCount: 2), at: "/")
        _ = await album.dispatch(.alert("hello"))
        _ = await album.dispatch(.cover(Album.Cover(artist: "x")))
        #expect(album.alert == "hello" && album.$alert.count == 1)
        #expect(album.cover.size.width == 1 && album.pages["page1"] == 1)
        #expect(album.title == album.state.title)
        client.close()
    }

    @Test("F62: mirrors of one reactor share an identity; another reactor, or epoch, has another")
    func identity() async throws {
        let server = try LiveServer()
        let client = try await Client.connect(to: server.path, options: .brisk)
        let other = try await Client.connect(to: server.path)
        let visits = try await client.mirror(StockReactors.Counter.self, at: "/visits")
        let again = try await client.mirror(StockReactors.Counter.self, at: "/visits")
        let far = try await other.mirror(StockReactors.Counter.self, at: "/visits")
        let beside = try await client.mirror(StockReactors.Counter.self, at: "/other")
        #expect(visits == again && visits != far && Set([visits, again, far]).count == 2)
        let id = try #require(visits.id)
        #expect(far.id == id && id.epoch == 7 && beside.id != id)
        server.stop()
        let next = try LiveServer(in: server.folder, epoch: 8)
        await visits.until { $0.revision.epoch == 8 }
        #expect(visits.id?.epoch == 8)
        client.close()
        other.close()
        next.stop()
    }
}
