import Observation
import ReactorCore
import StockReactors
import Testing

@testable import ReactorClient

@Suite("MirrorSlice", .timeLimit(.minutes(10)))
struct MirrorSliceTests {
    @Test("F54: a slice yields the current value, then each that differs, and nothing in between")
    func values() async throws {
        let server = try LiveServer(Album())
        let client = try await Client.connect(to: server.path)
        let album = try await client.mirror(Album.self, at: "/")
        let cover = album.slice(\.cover)
        var values = cover.values().makeAsyncIterator()
        #expect(await values.next() == Album.Cover())
        _ = await album.dispatch(.cover(Album.Cover()))
        _ = await album.dispatch(.count(3))
        _ = await album.dispatch(.cover(Album.Cover(artist: "x")))
        #expect(await values.next() == Album.Cover(artist: "x"))
        client.close()
        #expect(await values.next() == nil)
    }

    @Test("F54: an observer of a slice is woken only when its value differs")
    func observation() async throws {
        let server = try LiveServer(Album())
        let client = try await Client.connect(to: server.path)
        let album = try await client.mirror(Album.self, at: "/")
        let cover = album.slice(\.cover)
        let told = Notes<Bool>()
        withObservationTracking({ _ = cover.artist }, onChange: { told.add(true) })
        _ = await album.dispatch(.cover(Album.Cover()))
        _ = await album.dispatch(.title("x"))
        #expect(told.all.isEmpty && cover.value == Album.Cover())
        _ = await album.dispatch(.cover(Album.Cover(artist: "x")))
        #expect(told.all == [true] && cover.artist == "x")
        client.close()
    }

    @Test("F55: a slice of a slice stays silent if the outer one changes and it does not")
    func nested() async throws {
        let server = try LiveServer(Album())
        let client = try await Client.connect(to: server.path)
        let album = try await client.mirror(Album.self, at: "/")
        let width = album.slice(\.cover).slice(\.size).slice(\.width)
        let told = Notes<Bool>()
        withObservationTracking({ _ = width.value }, onChange: { told.add(true) })
        var values = width.values().makeAsyncIterator()
        #expect(await values.next() == 1)
        var cover = Album.Cover(artist: "x")
        _ = await album.dispatch(.cover(cover))
        cover.size.height = 5
        _ = await album.dispatch(.cover(cover))
        #expect(told.all.isEmpty && width.value == 1)
        cover.size.width = 4
        _ = await album.dispatch(.cover(cover))
        #expect(told.all == [true])
        #expect(await values.next() == 4)
        client.close()
    }

    @Test("a slice without references is no longer compared")
    func release() async throws {
        let server = try LiveServer(Album())
        let client = try await Client.connect(to: server.path)
        let album = try await client.mirror(Album.self, at: "/")
        weak var slice: MirrorSlice<Album, Int>?
        do {
            let held = album.slice(\.count)
            slice = held
            #expect(held.value == 0)
        }
        #expect(slice == nil)
        #expect(await album.dispatch(.count(1)).revision != nil)
        client.close()
    }

    @Test("F54: a slice of a mirror that has ended yields the last value, and ends")
    func ended() async throws {
        let server = try LiveServer(Guesthouse())
        let client = try await Client.connect(to: server.path)
        _ = try await client.dispatch("/", Guesthouse.Action.open("a"))
        let hall = try await client.mirror(StockReactors.Counter.self, at: "/halls/a")
        #expect(await hall.dispatch(.increment(by: 2)).revision != nil)
        _ = try await client.dispatch("/", Guesthouse.Action.close("a"))
        await hall.until { $0.phase == .failed(.gone(path: "/halls/a")) }
        var counts = hall.slice(\.count).values().makeAsyncIterator()
        #expect(await counts.next() == 2)
        #expect(await counts.next() == nil)
        client.close()
    }
}
