import ReactorCore
import Testing

@testable import ReactorClient

/// Views of collections, and their ``Ranking``.
@Suite("CollectionView", .timeLimit(.minutes(10)))
struct CollectionViewTests {
    private typealias Runs = MirrorCollection<WireKey, Run>

    @Test("the first children by an order are told only when their own list changes")
    func leaderboard() throws {
        let (rig, writer) = try Rig.portfolio(["a", "b", "c", "d"])
        for (key, progress) in [("a", 10), ("b", 30), ("c", 20), ("d", 5)] {
            try rig.advance(key, to: progress, by: writer)
        }
        let reader = rig.client()
        let runs: Runs = try reader.collect(rig).get()
        let best = runs.first(2) { $0.progress > $1.progress }
        let bells = Notes<String>()
        func hang() { bells.add("rung") { _ = best.elements } }
        hang()
        #expect(best.elements.map(\.key) == ["b", "c"])
        try rig.advance("d", to: 19, by: writer)
        try rig.send(Project.Action.remove(["a"]), by: writer)
        #expect(bells.all.isEmpty)
        try rig.advance("c", to: 21, by: writer)
        #expect(bells.all.count == 1 && best.elements.map(\.progress) == [30, 21])
        hang()
        try rig.send(Project.Action.remove(["b"]), by: writer)
        #expect(bells.all.count == 2 && best.elements.map(\.key) == ["c", "d"])
        hang()
        try rig.send(Project.Action.start(["e"]), by: writer)
        #expect(bells.all.count == 2)
    }

    @Test("a view contains the children that its condition accepts, in the order of their keys")
    func condition() async throws {
        let (rig, writer) = try Rig.portfolio(["a", "b", "c"])
        let reader = rig.client()
        let runs: Runs = try reader.collect(rig).get()
        let active = runs.view(where: { $0.progress > 0 })
        var lists = active.values().makeAsyncIterator()
        #expect(await lists.next()?.map(\.id) == [])
        try rig.advance("c", to: 1, by: writer)
        try rig.advance("a", to: 2, by: writer)
        #expect(await lists.next()?.map(\.key) == ["a", "c"])
        try rig.advance("c", to: 0, by: writer)
        #expect(await lists.next()?.map(\.key) == ["a"])
        try rig.send(Portfolio.Action.close("build"), to: "/", by: writer)
        #expect(await lists.next() == nil)
        let late = runs.view(where: { $0.progress > 0 })
        var last = late.values().makeAsyncIterator()
        #expect(await last.next()?.map(\.key) == ["a"])
        #expect(await last.next() == nil)
    }

    @Test("a ranking equals the sorted children after any changes, and tells of each difference")
    func ranking() throws {
        var seed = Seed(UInt64.random(in: .min ... .max))
        for countMax in [0, 1, 3, 10, Int.max] {
            var states = CollectionStates<Int, Int>()
            var ranking = Ranking<Int, Int>(
                countMax: countMax, isIncluded: { $0.state % 5 != 0 },
                precedes: { $0.state / 3 > $1.state / 3 })
            ranking.rank(states)
            for step in 0..<2_000 {
                var names: Set<WireKey> = []
                for _ in 0...seed.next() % 4 {
                    let key = Int(seed.next() % 150)
                    let name = WireKey("\(key)")
                    names.insert(name)
                    if seed.next() % 3 == 0 {
                        states.remove(name)
                    } else {
                        states.set(KeyedState(name, key, Int(seed.next() % 100)))
                    }
                }
                let before = ranking.elements
                let isNews = ranking.update(names, from: states)
                let expected =
                    states.filter { $0.state % 5 != 0 }.sorted {
                        ($1.state / 3, $0.name) < ($0.state / 3, $1.name)
                    }.prefix(countMax)
                #expect(ranking.elements == Array(expected), "step \(step) of \(countMax)")
                if before != ranking.elements { #expect(isNews, "step \(step)") }
                let touched = (before + ranking.elements).contains { names.contains($0.name) }
                if isNews { #expect(touched, "step \(step)") }
            }
        }
    }

    @Test("a released view looks at no further change")
    func release() throws {
        let (rig, writer) = try Rig.portfolio(["a"])
        let reader = rig.client()
        let runs: Runs = try reader.collect(rig).get()
        let looks = Notes<Int>()
        do {
            let view = runs.view(where: { child in
                looks.add(child.progress)
                return true
            })
            #expect(view.elements.count == 1)
            try rig.advance("a", to: 1, by: writer)
            #expect(looks.all == [0, 1])
        }
        try rig.advance("a", to: 2, by: writer)
        #expect(looks.all == [0, 1])
    }
}
