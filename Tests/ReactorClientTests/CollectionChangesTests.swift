import ReactorCore
import ReactorThreads
import Testing

@testable import ReactorClient

@Suite("CollectionChanges", .timeLimit(.minutes(10)))
struct CollectionChangesTests {
    private typealias Change = CollectionChange<WireKey, Run.State>
    private typealias Runs = MirrorCollection<WireKey, Run>

    @Test("the present children come first as inserted, then each turn's differences")
    func turns() async throws {
        let (rig, writer) = try Rig.portfolio(["a", "b"])
        let reader = rig.client()
        let runs: Runs = try reader.collect(rig).get()
        var changes = runs.changes.makeAsyncIterator()
        let new = Run.State()
        #expect(await changes.next() == [.inserted("a", new), .inserted("b", new)])
        try rig.advance("b", to: 2, by: writer)
        #expect(await changes.next() == [.changed("b", Run.State(progress: 2))])
        try rig.send(Project.Action.start(["d", "c"]), by: writer)
        #expect(await changes.next() == [.inserted("c", new), .inserted("d", new)])
        try rig.send(Project.Action.remove(["a"]), by: writer)
        #expect(await changes.next() == [.removed("a")])
        #expect(Change.removed("a").key == "a" && Change.changed("b", new).key == "b")
    }

    @Test("a collection without children begins with an element without changes")
    func empty() async throws {
        let (rig, writer) = try Rig.portfolio()
        let reader = rig.client()
        let runs: Runs = try reader.collect(rig).get()
        var changes = runs.changes.makeAsyncIterator()
        #expect(await changes.next() == [])
        try rig.send(Project.Action.start(["a"]), by: writer)
        #expect(await changes.next() == [.inserted("a", Run.State())])
    }

    @Test("a slow reader gets the net differences, and no child that came and went")
    func conflation() async throws {
        let (rig, writer) = try Rig.portfolio(["a", "b", "c"])
        let reader = rig.client()
        let runs: Runs = try reader.collect(rig).get()
        var changes = runs.changes.makeAsyncIterator()
        _ = await changes.next()
        try rig.advance("a", to: 1, by: writer)
        try rig.advance("a", to: 2, by: writer)
        try rig.send(Project.Action.remove(["b", "c"]), by: writer)
        try rig.send(Project.Action.start(["c", "d", "e"]), by: writer)
        try rig.advance("d", to: 3, by: writer)
        try rig.send(Project.Action.remove(["e"]), by: writer)
        #expect(
            await changes.next() == [
                .changed("a", Run.State(progress: 2)), .removed("b"),
                .changed("c", Run.State()), .inserted("d", Run.State(progress: 3)),
            ])
    }

    @Test("a reader that follows every change has the collection, at any pace")
    func model() async throws {
        var seed = Seed(UInt64.random(in: .min ... .max))
        let (rig, writer) = try Rig.portfolio(["1"])
        let reader = rig.client()
        let runs: MirrorCollection<Int, Run> = try reader.collect(rig).get()
        var changes = runs.changes.makeAsyncIterator()
        var model: [Int: Run.State] = [:]
        var present: Set<String> = ["1"]
        for step in 1...300 {
            let key = "\(seed.next() % 12)"
            if !present.contains(key) {
                try rig.send(Project.Action.start([key]), by: writer)
                present.insert(key)
            } else if seed.next() % 3 == 0 {
                try rig.send(Project.Action.remove([key]), by: writer)
                present.remove(key)
            } else {
                try rig.advance(key, to: step, by: writer)
            }
            if seed.next() % 20 == 0 { rig.cut(reader) }
            rig.run()
            // Nothing may be left to read if a key came and went: wait for a marked change only.
            guard seed.next() % 4 == 0, let last = present.first else { continue }
            try rig.advance(last, to: 1_000 + step, by: writer)
            for change in await changes.next() ?? [] {
                switch change {
                case .inserted(let key, let state):
                    #expect(model.updateValue(state, forKey: key) == nil, "inserted twice: \(key)")
                case .changed(let key, let state):
                    #expect(model.updateValue(state, forKey: key) != nil, "unknown: \(key)")
                case .removed(let key):
                    #expect(model.removeValue(forKey: key) != nil, "removed twice: \(key)")
                }
            }
            let shown = Dictionary(uniqueKeysWithValues: runs.states.map { ($0.key, $0.state) })
            #expect(model == shown, "step \(step)")
            #expect(Set(shown.keys.map { "\($0)" }) == present)
        }
    }

    @Test("the changes end when the collection is removed, after the last ones")
    func end() async throws {
        let (rig, writer) = try Rig.portfolio(["a"])
        let reader = rig.client()
        let runs: Runs = try reader.collect(rig).get()
        var changes = runs.changes.makeAsyncIterator()
        _ = await changes.next()
        try rig.advance("a", to: 1, by: writer)
        try rig.send(Portfolio.Action.close("build"), to: "/", by: writer)
        #expect(await changes.next() == [.changed("a", Run.State(progress: 1))])
        #expect(await changes.next() == nil)
    }

    @Test("what a released reader has not received is kept no longer")
    func release() async throws {
        let (rig, writer) = try Rig.portfolio(["a"])
        let reader = rig.client()
        let runs: Runs = try reader.collect(rig).get()
        do {
            var changes = runs.changes.makeAsyncIterator()
            _ = await changes.next()
            #expect(runs.shown.withLock { $0.readerCount } == 1)
        }
        #expect(runs.shown.withLock { $0.readerCount } == 0)
        withExtendedLifetime(writer) {}
    }
}
