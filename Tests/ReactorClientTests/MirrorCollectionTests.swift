import ReactorCore
import ReactorThreads
import StockReactors
import Testing

@testable import ReactorClient
@testable import ReactorServer

/// Collections over a server without I/O: ``CollectionSink`` and ``CollectionNotices``.
@Suite("MirrorCollection", .timeLimit(.minutes(10)))
struct MirrorCollectionTests {
    private typealias Runs = MirrorCollection<WireKey, Run>

    /// A client that follows the runs of a project, and another that changes them.
    private func follow(
        _ runs: [String] = [], limits: ServerLimits = ServerLimits()
    ) throws -> (rig: Rig, writer: Rig.Joined, reader: Rig.Joined, runs: Runs) {
        let (rig, writer) = try Rig.portfolio(runs, limits: limits)
        let reader = rig.client()
        let collection: Runs = try reader.collect(rig).get()
        return (rig, writer, reader, collection)
    }

    @Test("a collection shows every present and future child, each with its own state")
    func children() throws {
        let (rig, writer, reader, runs) = try follow(["2", "10"])
        #expect(runs.keys.elementsEqual(["2", "10"]) && runs.phase == .live)
        try rig.advance("10", to: 7, by: writer)
        #expect(runs["10"] == Run.State(progress: 7) && runs["2"]?.progress == 0)
        try rig.send(Project.Action.start(["3"]), by: writer)
        #expect(runs.keys.elementsEqual(["2", "3", "10"]) && runs["3"] == Run.State())
        try rig.advance("3", to: 1, by: writer)
        #expect(runs.states.map(\.progress) == [0, 1, 7])
        try rig.send(Project.Action.remove(["2", "10"]), by: writer)
        #expect(runs.count == 1 && runs["2"] == nil && runs.states.first?.key == "3")
        #expect(rig.server.connections.inOrder.map(\.subscriptions.count).max() == 1)
        withExtendedLifetime(reader) {}
    }

    @Test("a patch of an entry and one of several fields change the child that they name")
    func fields() throws {
        let (rig, writer, reader, runs) = try follow(["a", "b"])
        let path = "/projects/build/runs/a"
        try rig.send(Run.Action.label(key: "os", text: "linux"), to: path, by: writer)
        try rig.send(Run.Action.label(key: "cpu", text: "arm"), to: path, by: writer)
        #expect(runs["a"]?.labels == ["os": "linux", "cpu": "arm"])
        try rig.send(Run.Action.label(key: "os", text: nil), to: path, by: writer)
        try rig.advance("a", to: 3, by: writer)
        #expect(runs["a"]?.labels == ["cpu": "arm"] && runs["a"]?.progress == 3)
        #expect(runs["b"] == Run.State())
        withExtendedLifetime(reader) {}
    }

    @Test("nodes below a child are no part of its state, and their changes are no changes of it")
    func nodesBelow() throws {
        let (rig, writer, reader, runs) = try follow(["a"])
        let bells = Notes<String>()
        bells.add("rung") { _ = runs.states }
        let path = "/projects/build/runs/a"
        let increment = StockReactors.Counter.Action.increment(by: 4)
        try rig.send(increment, to: "\(path)/log", by: writer)
        try rig.send(Run.Action.step("1"), to: path, by: writer)
        try rig.send(increment, to: "\(path)/steps/1", by: writer)
        #expect(bells.all.isEmpty && runs["a"] == Run.State())
        try rig.advance("a", to: 2, by: writer)
        #expect(bells.all == ["rung"] && runs["a"]?.progress == 2)
        withExtendedLifetime(reader) {}
    }

    @Test("a child in the place of another is shown with its initial state")
    func replaced() throws {
        let (rig, writer, reader, runs) = try follow(["a"])
        try rig.advance("a", to: 5, by: writer)
        try rig.send(Project.Action.replace("a"), by: writer)
        #expect(runs["a"] == Run.State())
        withExtendedLifetime(reader) {}
    }

    // MARK: Cost

    @Test("a change costs the same bytes with 10 children and with 10,000, and one decoded state")
    func bytes() throws {
        var sizes: [Int: [Int]] = [:]
        for count in [10, 10_000] {
            let (rig, writer) = try Rig.portfolio()
            for start in stride(from: 0, to: count, by: 100) {
                let keys = (start..<min(start + 100, count)).map { "\($0)" }
                try rig.send(Project.Action.start(keys), by: writer)
            }
            let reader = rig.client()
            let runs: MirrorCollection<WireKey, CountingProgram.Run> = try reader.collect(rig).get()
            #expect(runs.count == count)
            let decoded = CountingProgram.Number.decodedCount.withLock { $0 }
            let encoded = rig.server.statistics.valuesEncoded
            reader.onDown = { frames in
                sizes[count, default: []] +=
                    frames.filter { $0.kind == .value }.map(\.body.count)
                return frames.bytes
            }
            for progress in 1...5 { try rig.advance("7", to: progress, by: writer) }
            #expect(runs["7"]?.progress.value == 5)
            #expect(CountingProgram.Number.decodedCount.withLock { $0 } == decoded + 5)
            #expect(rig.server.statistics.valuesEncoded == encoded)
            #expect(rig.server.connections.inOrder.map(\.subscriptions.count).max() == 1)
        }
        #expect(sizes[10] == sizes[10_000])
        #expect(sizes[10]?.count == 5 && sizes[10]?.allSatisfy { $0 < 24 } == true)
    }

    // MARK: Observation

    @Test("a change of a child wakes its readers and those of the whole, and no other's")
    func grain() throws {
        let (rig, writer, reader, runs) = try follow(["a", "b"])
        let bells = Notes<String>()
        bells.add("a") { _ = runs["a"] }
        bells.add("b") { _ = runs["b"] }
        bells.add("c") { _ = runs["c"] }
        bells.add("count") { _ = runs.count }
        bells.add("states") { _ = runs.states }
        try rig.advance("a", to: 1, by: writer)
        #expect(bells.all.sorted() == ["a", "states"])
        try rig.send(Project.Action.start(["c"]), by: writer)
        #expect(bells.all.sorted() == ["a", "c", "count", "states"])
        try rig.send(Project.Action.remove(["b"]), by: writer)
        #expect(bells.all.sorted() == ["a", "b", "c", "count", "states"])
        withExtendedLifetime(reader) {}
    }

    @Test("the signals of keys that have no child are released beyond their maximum, once woken")
    func absentSignals() throws {
        let (rig, writer, reader, runs) = try follow(["a"])
        let bells = Notes<Int>()
        for index in 0..<CollectionNotices.absentMax + 5 {
            bells.add(index) { _ = runs[WireKey("x\(index)")] }
        }
        bells.add(-1) { _ = runs["a"] }
        try rig.send(Project.Action.start(["b"]), by: writer)
        #expect(bells.all.count == CollectionNotices.absentMax + 5 && !bells.all.contains(-1))
        #expect(runs.notices.signalCount == 1)
        withExtendedLifetime(reader) {}
    }

    // MARK: Connections

    @Test("a lost connection leaves the last children, and only the differences are changes")
    func reconnects() throws {
        let (rig, writer, reader, runs) = try follow(["a", "b", "c"])
        try rig.advance("b", to: 1, by: writer)
        let bells = Notes<String>()
        bells.add("b") { _ = runs["b"] }
        bells.add("c") { _ = runs["c"] }
        bells.add("a") { _ = runs["a"] }
        rig.cut(reader)
        #expect(runs.phase == .connecting && runs["b"]?.progress == 1)
        try rig.advance("c", to: 9, by: writer)
        try rig.send(Project.Action.remove(["a"]), by: writer)
        #expect(runs.phase == .live && runs.keys.elementsEqual(["b", "c"]))
        #expect(runs["c"]?.progress == 9 && bells.all.sorted() == ["a", "c"])
        rig.cut(reader)
        rig.run()
        #expect(runs.phase == .live && bells.all.sorted() == ["a", "c"])
    }

    @Test("a daemon that was killed and continues with its journal shows the same children")
    func restarts() throws {
        let (rig, writer, reader, runs) = try follow(["a", "b"])
        let rowCount = rig.rows.count
        try rig.advance("b", to: 4, by: writer)
        try rig.restart(epoch: 7)
        #expect(runs.phase == .connecting && runs.count == 2)
        rig.run()
        #expect(runs.phase == .live && runs["b"]?.progress == 4)
        try rig.restart(epoch: 8, losing: rig.rows.count - rowCount)
        rig.run()
        #expect(runs.phase == .live && runs["b"]?.progress == 0 && runs.count == 2)
        try rig.advance("a", to: 2, by: writer)
        #expect(runs["a"]?.progress == 2)
        withExtendedLifetime(reader) {}
    }

    @Test("a removed collection ends with its path, and keeps the last children")
    func gone() throws {
        let (rig, writer, reader, runs) = try follow(["a"])
        try rig.send(Portfolio.Action.close("build"), to: "/", by: writer)
        #expect(runs.phase == .failed(.gone(path: "/projects/build/runs")))
        #expect(runs["a"] == Run.State())
        withExtendedLifetime(reader) {}
    }

    @Test("two requests for a collection get one object, and its release ends the subscription")
    func sharing() throws {
        let (rig, writer, reader, _) = try follow(["a"])
        do {
            let first: Runs = try reader.collect(rig).get()
            let second: Runs = try reader.collect(rig).get()
            #expect(first === second)
        }
        rig.run()
        #expect(rig.server.connections.inOrder.allSatisfy { $0.subscriptions.isEmpty })
        withExtendedLifetime(writer) {}
    }

    @Test("a collection whose path is watched as well gets the value of its own")
    func watched() throws {
        let (rig, writer) = try Rig.portfolio(["a"])
        let reader = rig.client()
        let feed = WatchFeed {}
        reader.machine.follow("/projects/build/runs", .value, WatchSink(1, feed))
        rig.run()
        try rig.advance("a", to: 1, by: writer)
        let runs: Runs = try reader.collect(rig).get()
        try rig.advance("a", to: 2, by: writer)
        #expect(runs["a"]?.progress == 2)
        let value = try feed.state.withLock { $0.held }.value()
        #expect(value?["a"]?["progress"] == 2)
    }

    // MARK: What cannot be shown

    private func failure<Key, R>(
        _ result: Result<MirrorCollection<Key, R>, ClientError>
    ) -> ClientError? {
        guard case .failure(let error) = result else { return nil }
        return error
    }

    @Test("a path that is no collection of the type fails, and names what stands there")
    func otherReactor() throws {
        let (rig, _) = try Rig.portfolio(["a"])
        let reader = rig.client()
        let counter: Result<Runs, ClientError> = try reader.collect(at: "/visits", rig)
        #expect(
            failure(counter)
                == .otherReactor(
                    path: "/visits", expected: "collection of Run", actual: "Counter"))
        // No child is needed to tell the types apart.
        let notes: Result<Runs, ClientError> = try reader.collect(
            at: "/projects/build/notes", rig)
        #expect(
            failure(notes)
                == .otherReactor(
                    path: "/projects/build/notes", expected: "collection of Run",
                    actual: "collection of Counter"))
        let field: Result<Runs, ClientError> = try reader.collect(at: "/visits/count", rig)
        #expect(failure(field)?.description.contains("/visits/count is inside a state") == true)
        rig.run()
        #expect(rig.server.connections.inOrder.allSatisfy { $0.subscriptions.isEmpty })
    }

    @Test("a child that is not there is no collection")
    func absent() throws {
        let (rig, _) = try Rig.portfolio(["a"])
        let reader = rig.client()
        let runs: Result<Runs, ClientError> = try reader.collect(
            at: "/projects/build/runs/b", rig)
        guard case .refused(let refusal) = failure(runs) else {
            Issue.record("\(runs)")
            return
        }
        #expect(refusal.code == .notFound && refusal.nearest == "/projects/build/runs/a")
    }

    @Test("a child whose state cannot be read fails with its path, in a value and in a patch")
    func unreadable() throws {
        typealias Others = MirrorCollection<WireKey, OtherProgram.Run>
        let (rig, writer) = try Rig.portfolio(["a"])
        let reader = rig.client()
        let now: Result<Others, ClientError> = try reader.collect(rig)
        guard case .incompatible("/projects/build/runs/a", let error)? = failure(now) else {
            Issue.record("\(now)")
            return
        }
        #expect("\(error)".contains("progress"))
        try rig.send(Project.Action.remove(["a"]), by: writer)
        let later: Others = try reader.collect(rig).get()
        try rig.send(Project.Action.start(["b"]), by: writer)
        guard case .failed(.incompatible("/projects/build/runs/b", _)) = later.phase else {
            Issue.record("\(later.phase)")
            return
        }
        // The connection is not at fault.
        #expect(reader.connectCount == 1)
        #expect(rig.server.connections.inOrder.allSatisfy { $0.subscriptions.isEmpty })
    }

    @Test("a collection of another version says how the types differ, and shows no default as data")
    func otherVersion() throws {
        typealias Laters = MirrorCollection<WireKey, LaterProgram.Run>
        let (rig, writer) = try Rig.portfolio(["a"])
        let reader = rig.client()
        let refused: Result<Laters, ClientError> = try reader.collect(rig)
        #expect(
            failure(refused)
                == .incompatible(
                    path: "/projects/build/runs", WireError(.missingField("owner"), at: 0)))
        var result: Result<Laters, ClientError>?
        reader.machine.collection(
            at: "/projects/build/runs", missing: .defaults, port: nil, nil
        ) { result = $0 }
        rig.run()
        let runs = try #require(try result?.get())
        guard case .differing(let difference) = runs.phase else {
            Issue.record("\(runs.phase)")
            return
        }
        #expect(
            difference.skipped == ["labels", "phase", "startedAt"]
                && difference.missing == ["owner"])
        try rig.advance("a", to: 4, by: writer)
        #expect(runs["a"] == LaterProgram.Run.State(progress: 4, owner: "none"))
        rig.cut(reader)
        #expect(runs.phase == .connecting)
        rig.run()
        #expect(runs.phase == .differing(difference))
    }

    @Test("typed keys order and find children, and a text that is no such key fails")
    func typedKeys() throws {
        let (rig, writer) = try Rig.portfolio(["10", "9"])
        let reader = rig.client()
        let runs: MirrorCollection<Int, Run> = try reader.collect(rig).get()
        try rig.advance("9", to: 3, by: writer)
        #expect(runs.keys.elementsEqual([9, 10]) && runs[9]?.progress == 3 && runs[8] == nil)
        try rig.send(Project.Action.start(["09"]), by: writer)
        guard case .failed(.incompatible("/projects/build/runs/09", _)) = runs.phase else {
            Issue.record("\(runs.phase)")
            return
        }
        #expect("\(runs.phase)".contains("an integer"))
    }

    @Test("C94: a patch that cannot be applied costs a connection, and then the value comes")
    func badPatch() throws {
        let (rig, writer, reader, runs) = try follow(["a"])
        for place: [WireKey] in [["nobody", "progress"], ["a", "progress", "deep"]] {
            var isSpoiled = false
            let connectCount = reader.connectCount
            reader.onDown = { frames in
                var frames = frames
                for index in frames.indices
                where frames[index].header.flags.contains(.patch) && !isSpoiled {
                    isSpoiled = true
                    var patch = PatchWriter()
                    patch.append(place[...]) { _ in .absent }
                    frames[index] = Frame(frames[index].header, patch.bytes)
                }
                return frames.bytes
            }
            try rig.advance("a", to: connectCount, by: writer)
            #expect(isSpoiled && reader.connectCount == connectCount + 1)
            #expect(runs["a"]?.progress == connectCount && runs.phase == .live)
        }
    }
}
