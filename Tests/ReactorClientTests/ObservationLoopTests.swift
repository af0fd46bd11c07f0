import ReactorCore
import StockReactors
import Testing

@testable import ReactorClient

@Suite("Observation loop", .timeLimit(.minutes(10)))
struct ObservationLoopTests {
    @Test("F78: a body runs again when a value that it read has changed, and for no other change")
    func reruns() async throws {
        let server = try LiveServer()
        let client = try await Client.connect(to: server.path)
        let visits = try await client.mirror(StockReactors.Counter.self, at: "/visits")
        let other = try await client.mirror(StockReactors.Counter.self, at: "/other")
        let seen = Notes<Int64>()
        let loop = Task { await rerunningOnChange { seen.add(visits.count) } }
        await seen.until(1)
        #expect(await other.dispatch(.increment(by: 1)).revision != nil)
        #expect(await visits.dispatch(.increment(by: 4)).revision != nil)
        #expect(await seen.until(2) == [0, 4])
        #expect(await visits.dispatch(.increment(by: 4)).revision != nil)
        #expect(await seen.until(3) == [0, 4, 8])
        loop.cancel()
        await loop.value
        client.close()
    }

    @Test("a body that reads several mirrors at one revision runs again when one has changed")
    func reads() async throws {
        let server = try LiveServer()
        let client = try await Client.connect(to: server.path)
        let visits = try await client.mirror(StockReactors.Counter.self, at: "/visits")
        let other = try await client.mirror(StockReactors.Counter.self, at: "/other")
        let seen = Notes<Int64>()
        let loop = Task {
            await rerunningOnChange {
                seen.add(client.read(visits, other) { $0.count - $1.count })
            }
        }
        await seen.until(1)
        #expect(await other.dispatch(.increment(by: 3)).revision != nil)
        #expect(await seen.until(2) == [0, -3])
        #expect(await visits.dispatch(.increment(by: 5)).revision != nil)
        #expect(await seen.until(3) == [0, -3, 2])
        loop.cancel()
        await loop.value
        client.close()
    }

    @Test("a body that reads a collection and a mirror at once runs again after each change")
    func readsCollection() async throws {
        let server = try LiveServer(Portfolio())
        let client = try await Client.connect(to: server.path)
        _ = try await client.dispatch("/", Portfolio.Action.open("build"))
        let project = "/projects/build"
        _ = try await client.dispatch(project, Project.Action.start(["1"]))
        let runs = try await client.collection(Run.self, at: project + "/runs")
        let visits = try await client.mirror(StockReactors.Counter.self, at: "/visits")
        let seen = Notes<Int64>()
        let loop = Task {
            await rerunningOnChange {
                seen.add(client.read(runs, visits) { Int64($0["1"]?.progress ?? -1) + $1.count })
            }
        }
        await seen.until(1)
        #expect(try await runs.dispatch("1", .advance(to: 4)).revision != nil)
        #expect(await seen.until(2) == [0, 4])
        #expect(await visits.dispatch(.increment(by: 5)).revision != nil)
        #expect(await seen.until(3) == [0, 4, 9])
        loop.cancel()
        await loop.value
        client.close()
    }

    @Test("F78: a body that sends a previewed action in its first run reads the result")
    func actingAtOnce() async throws {
        let server = try LiveServer()
        let client = try await Client.connect(to: server.path)
        let visits = try await client.mirror(StockReactors.Counter.self, at: "/visits")
        let cover = visits.slice(\.count)
        let seen = Notes<Int64>()
        let loop = Task {
            await rerunningOnChange {
                seen.add(cover.value)
                if cover.value == 0 { visits.send(.increment(by: 1), isPreviewed: true) }
            }
        }
        #expect(await seen.until(2) == [0, 1])
        loop.cancel()
        await loop.value
        client.close()
    }

    @Test("F78: a change between a read and the end of the body causes one more run")
    func changesMeanwhile() async {
        let signal = ChangeSignal()
        let runs = Notes<UInt64>()
        let loop = Task {
            await rerunningOnChange {
                signal.access()
                runs.add(signal.version)
                if runs.all.count == 1 { signal.publish() }
            }
        }
        #expect(await runs.until(2) == [0, 1])
        loop.cancel()
        await loop.value
    }
}
