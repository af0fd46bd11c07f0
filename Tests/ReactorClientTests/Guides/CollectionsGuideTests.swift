import ReactorClient
import ReactorCore
import StockReactors
import Testing

// The code of the guide on collections, line for line.

private typealias App = Portfolio

/// What a program shows of each run.
private final class Screen: Sendable {
    let rows = Notes<String>()

    func show(_ key: WireKey, _ progress: Int) { rows.add("\(key) \(progress)") }
    func hide(_ key: WireKey) { rows.add("\(key) gone") }

    func showAll(_ client: Client) async throws -> MirrorCollection<WireKey, Run> {
        let runs = try await client.collection(Run.self, at: "/projects/build/runs")
        let build = ReactorPath(App.self).child(\.$projects, "build")
        let same = try await client.collection(\.$runs, of: build)
        let progress = runs["7"]?.progress
        for run in runs.states { show(run.key, run.progress) }
        let outcome = try await runs.dispatch("7", .advance(to: 5))
        #expect(same === runs && progress == 0 && outcome.revision != nil)
        return runs
    }

    func count(_ client: Client) async throws -> Int {
        let numbered = try await client.collection(
            Run.self, keys: Int.self, at: "/projects/build/runs")
        return numbered.keys.reduce(0, +)
    }

    func follow(_ runs: MirrorCollection<WireKey, Run>) async {
        for await changes in runs.changes {
            for change in changes {
                switch change {
                case .inserted(let key, let run), .changed(let key, let run):
                    show(key, run.progress)
                case .removed(let key): hide(key)
                }
            }
        }
    }

    func rank(_ runs: MirrorCollection<WireKey, Run>) async {
        let best = runs.first(10) { $0.progress > $1.progress }
        for await top in best.values() {
            for run in top { show(run.key, run.progress) }
        }
    }

    func showNewest(_ client: Client) async throws {
        let build = ReactorPath(App.self).child(\.$projects, "build")
        let newest = try await client.collection(
            \.$runs, of: build, where: \.phase == .running && \.progress > 3,
            order: .descending(\.startedAt), first: 50)
        for run in newest.states { show(run.key, run.progress) }
    }

    func oldKeys(_ client: Client) async throws -> [Int] {
        let old = try await client.collection(
            Run.self, keys: Int.self, at: "/projects/build/runs", in: .between("8", nil),
            where: .field("labels", "os", is: .equal, "linux") || .among(\.phase, [.failed, .done]))
        return Array(old.keys)
    }

    func isDone(
        _ client: Client, _ runs: MirrorCollection<WireKey, Run>,
        _ counter: Mirror<StockReactors.Counter>
    ) -> Bool {
        let isDone = client.read(runs, counter) { runs, counter in runs.count == counter.count }
        return isDone
    }
}

@Suite("guide: collections", .timeLimit(.minutes(10)))
struct CollectionsGuideTests {
    @Test("a screen shows the runs, their changes, and the first of them")
    func screen() async throws {
        let server = try LiveServer(Portfolio())
        let client = try await Client.connect(to: server.path)
        _ = try await client.dispatch("/", Portfolio.Action.open("build"))
        _ = try await client.dispatch("/projects/build", Project.Action.start(["7", "8"]))
        let screen = Screen()
        let runs = try await screen.showAll(client)
        #expect(screen.rows.all == ["7 0", "8 0"])
        #expect(try await screen.count(client) == 15)
        let visits = try await client.mirror(StockReactors.Counter.self, at: "/visits")
        #expect(!screen.isDone(client, runs, visits))
        let board = Screen()
        async let following: Void = screen.follow(runs)
        async let ranking: Void = board.rank(runs)
        #expect(await screen.rows.until(4).suffix(2) == ["7 5", "8 0"])
        #expect(await board.rows.until(2) == ["7 5", "8 0"])
        _ = try await client.dispatch("/projects/build", Project.Action.remove(["7"]))
        #expect(await screen.rows.until(5).last == "7 gone")
        #expect(await board.rows.until(3).last == "8 0")
        _ = try await client.dispatch("/projects/build", Project.Action.start(["9", "200"]))
        for (key, time) in [("8", 1), ("9", 2), ("200", 3)] {
            let path = "/projects/build/runs/\(key)"
            _ = try await client.dispatch(path, Run.Action.advance(to: 4))
            _ = try await client.dispatch(path, Run.Action.begin(at: time))
        }
        _ = try await client.dispatch("/projects/build/runs/9", Run.Action.enter(.done))
        _ = try await client.dispatch("/projects/build/runs/200", Run.Action.enter(.failed))
        let newest = Screen()
        try await newest.showNewest(client)
        #expect(newest.rows.all == ["8 4"])
        #expect(try await newest.oldKeys(client) == [9])
        client.close()
        await following
        await ranking
    }
}
