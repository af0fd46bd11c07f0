import ReactorCore
import StockReactors
import Testing

@testable import ReactorClient

@Suite("Collections over a socket", .timeLimit(.minutes(10)))
struct ClientCollectionsTests {
    private typealias Counter = StockReactors.Counter

    private func portfolio() async throws -> (LiveServer, Client) {
        let server = try LiveServer(Portfolio())
        let client = try await Client.connect(to: server.path, options: .brisk)
        _ = try await client.dispatch("/", Portfolio.Action.open("build"))
        _ = try await client.dispatch("/projects/build", Project.Action.start(["1", "2"]))
        return (server, client)
    }

    @Test("a program follows a collection by its path and by properties, and sends to a child")
    func following() async throws {
        let (server, client) = try await portfolio()
        let runs = try await client.collection(Run.self, at: "/projects/build/runs")
        let build = ReactorPath(Portfolio.self).child(\.$projects, "build")
        #expect(try await client.collection(\.$runs, of: build) === runs)
        let outcome = try await runs.dispatch("2", .advance(to: 5))
        #expect(outcome.revision == runs.revision && runs["2"]?.progress == 5)
        do {
            _ = try await runs.dispatch("3", .advance(to: 5))
            Issue.record("there is no run 3")
        } catch .refused(let refusal) {
            #expect(refusal.code == .notFound)
        }
        let typed = try await client.collection(
            Run.self, keys: Int.self, at: "/projects/build/runs")
        #expect(typed[2]?.progress == 5 && Array(typed.keys) == [1, 2])
        await server.until { $0.subscriptionCounts == [1] }
        client.close()
    }

    @Test("a path without a collection of the type fails before a subscription")
    func otherReactor() async throws {
        let (server, client) = try await portfolio()
        await #expect(
            throws: ClientError.otherReactor(
                path: "/projects/build/runs", expected: "collection of Counter",
                actual: "collection of Run")
        ) {
            _ = try await client.collection(Counter.self, at: "/projects/build/runs")
        }
        do {
            _ = try await client.collection(Run.self, at: "/projects/built/runs")
            Issue.record("there is no such project")
        } catch .refused(let refusal) {
            #expect(refusal.code == .notFound && refusal.nearest != nil)
        }
        #expect(await server.subscriptionCounts() == [0])
        client.close()
    }

    @Test("a collection and the client's mirrors are at one revision")
    func consistency() async throws {
        let (server, client) = try await portfolio()
        let runs = try await client.collection(Run.self, at: "/projects/build/runs")
        let visits = try await client.mirror(Counter.self, at: "/visits")
        let path = "/projects/build/runs/1"
        let reader = Task {
            var last = 0
            while last < 200 {
                let (progress, count) = client.read(runs, visits) { states, counter in
                    (states["1"]?.progress ?? -1, Int(counter.count))
                }
                #expect(progress == count)
                if progress != count { return }
                last = progress
                await Task.yield()
            }
        }
        let increment = WireEmbedded(Counter.Action.increment(by: 1))
        for index in 1...200 {
            let advance = WireEmbedded(Run.Action.advance(to: index))
            _ = try await client.batch([(path, advance), ("/visits", increment)])
        }
        await reader.value
        client.close()
        server.stop()
    }

    @Test("a collection continues with a daemon that takes the place of one that crashed")
    func restart() async throws {
        let (first, client) = try await portfolio()
        let runs = try await client.collection(Run.self, at: "/projects/build/runs")
        let best = runs.first(1) { $0.progress > $1.progress }
        var lists = best.values().makeAsyncIterator()
        #expect(await lists.next()?.map(\.key) == ["1"])
        first.stop()
        // A daemon without the history of the first has no such project.
        let second = try LiveServer(in: first.folder, epoch: 8, Portfolio())
        #expect(await lists.next() == nil)
        guard case .failed(let error) = runs.phase else {
            Issue.record("\(runs.phase)")
            return
        }
        #expect("\(error)".contains("/projects"))
        #expect(runs.count == 2)
        client.close()
        second.stop()
    }
}
