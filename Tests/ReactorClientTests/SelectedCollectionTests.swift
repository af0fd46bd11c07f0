import ReactorCore
import ReactorThreads
import ReactorWire
import Testing

@testable import ReactorClient
@testable import ReactorServer

/// Collections of which the daemon selects children, over a server without I/O.
@Suite("selected children", .timeLimit(.minutes(10)))
struct SelectedCollectionTests {
    private typealias Runs = MirrorCollection<WireKey, Run>

    private func best(_ count: Int? = nil) throws -> Selection {
        let condition: StateCondition<Run.State> = \.progress > 0
        return try Selection(
            nil as KeyRange?, condition, [.descending(\.progress)], count)
    }

    private func follow(
        _ runs: [String], _ selection: Selection
    ) throws -> (rig: Rig, writer: Rig.Joined, reader: Rig.Joined, runs: Runs) {
        let (rig, writer) = try Rig.portfolio(runs)
        for run in runs { try rig.advance(run, to: Int(run) ?? 0, by: writer) }
        let reader = rig.client()
        let collection: Runs = try reader.collect(selecting: selection, rig).get()
        return (rig, writer, reader, collection)
    }

    @Test("the states are in the declared order, and follow moves, arrivals and departures")
    func order() throws {
        let (rig, writer, reader, runs) = try follow(["1", "2", "3", "4"], best(3))
        #expect(runs.keys.elementsEqual(["4", "3", "2"]) && runs.phase == .live)
        #expect(runs.states.map(\.progress) == [4, 3, 2] && runs.count == 3)
        try rig.advance("2", to: 9, by: writer)
        #expect(runs.keys.elementsEqual(["2", "4", "3"]) && runs["2"]?.progress == 9)
        try rig.advance("4", to: 0, by: writer)
        #expect(runs.keys.elementsEqual(["2", "3", "1"]) && runs["4"] == nil)
        try rig.send(Project.Action.remove(["2", "3"]), by: writer)
        #expect(runs.keys.elementsEqual(["1"]) && runs.states[0].progress == 1)
        try rig.send(Project.Action.start(["7"]), by: writer)
        try rig.advance("7", to: 1, by: writer)
        #expect(runs.keys.elementsEqual(["1", "7"]))
        withExtendedLifetime(reader) {}
    }

    @Test("a filter without an order keeps the order of keys, and the whole collection is another")
    func filter() throws {
        var selection = try best()
        selection.order = []
        let (rig, writer, reader, runs) = try follow(["10", "9"], selection)
        try rig.send(Project.Action.start(["0"]), by: writer)
        #expect(runs.keys.elementsEqual(["9", "10"]))
        let whole: Runs = try reader.collect(rig).get()
        let same: Runs = try reader.collect(selecting: selection, rig).get()
        let ranked: Runs = try reader.collect(selecting: best(), rig).get()
        #expect(whole !== runs && same === runs && ranked !== runs && whole.count == 3)
        #expect(ranked.keys.elementsEqual(["10", "9"]))
        try rig.advance("0", to: 50, by: writer)
        #expect(ranked.keys.elementsEqual(["0", "10", "9"]) && runs.count == 3)
        #expect(rig.server.connections.inOrder.map(\.subscriptions.count).max() == 3)
    }

    @Test("a child that begins to meet the condition is inserted, and one that ceases is removed")
    func notices() throws {
        let (rig, writer, reader, runs) = try follow(["1", "2", "3"], best(2))
        let bells = Notes<String>()
        bells.add("keys") { _ = Array(runs.keys) }
        bells.add("3") { _ = runs["3"] }
        bells.add("1") { _ = runs["1"] }
        try rig.advance("1", to: 0, by: writer)
        #expect(bells.all.isEmpty, "a child outside the first two wakes no reader")
        try rig.advance("3", to: 4, by: writer)
        #expect(bells.all == ["3"])
        try rig.advance("2", to: 5, by: writer)
        #expect(bells.all == ["3", "keys"] && runs.keys.elementsEqual(["2", "3"]))
        withExtendedLifetime(reader) {}
    }

    @Test("after a lost connection, a selection continues with the children of now")
    func reconnects() throws {
        let (rig, writer, reader, runs) = try follow(["1", "2", "3"], best(2))
        rig.cut(reader)
        try rig.advance("1", to: 8, by: writer)
        try rig.send(Project.Action.remove(["3"]), by: writer)
        rig.run()
        #expect(runs.keys.elementsEqual(["1", "2"]) && runs.phase == .live)
        rig.cut(reader)
        rig.run()
        try rig.advance("2", to: 9, by: writer)
        #expect(runs.keys.elementsEqual(["2", "1"]))
        try rig.send(Portfolio.Action.close("build"), to: "/", by: writer)
        #expect(runs.phase == .failed(.gone(path: "/projects/build/runs")))
    }

    @Test("an unknown field, and a key path that is no field, are refused by name")
    func refusals() throws {
        let (rig, _) = try Rig.portfolio(["1"])
        let reader = rig.client()
        let unknown = Selection(filter: .compare(field: ["progres"], by: .less, with: 1))
        let result: Result<Runs, ClientError> = try reader.collect(selecting: unknown, rig)
        guard case .failure(.refused(let refusal)) = result else {
            Issue.record("\(result)")
            return
        }
        #expect(refusal.nearest == "progress" && refusal.message.contains("progres"))
        let nested: StateCondition<Run.State> = \.labels.count == 3
        #expect(throws: ClientError.self) {
            try Selection(nil as KeyRange?, nested, [], nil)
        }
    }

    @Test("an order that has other children than the value is the daemon's fault")
    func inconsistent() throws {
        for (order, expected) in [(["1", "2"], 2), (["2", "2"], 0), (["1"], 0), (["1", "3"], 0)] {
            let (rig, _) = try Rig.portfolio(["1", "2"])
            let reader = rig.client()
            reader.onDown = { frames in
                frames.map { frame in
                    guard frame.kind == .value else { return frame }
                    let value = try? WireValue(wireBytes: frame.body)
                    let forged: WireValue = [
                        "order": .array(order.map { .text($0) }),
                        "children": value?["children"] ?? [:],
                    ]
                    return Frame(frame.header, forged.wireBytes())
                }.bytes
            }
            let selection = Selection(order: [SelectionOrder(field: ["progress"])])
            let result: Result<Runs, ClientError> = try reader.collect(selecting: selection, rig)
            #expect((try? result.get().count) ?? 0 == expected, "\(order): \(result)")
        }
    }

    // MARK: Older daemons

    @Test("an older daemon refuses a selection or a question for types, and the error says so")
    func olderDaemon() throws {
        let selection = Selection(first: 1)
        let bodies = [
            ReactorWire.Subscribe(path: "/a", mode: .selection, selection: selection).wireBytes(),
            ReactorWire.Question.select(path: "/a", selection: selection).wireBytes(),
        ]
        var texts: [String] = []
        do { _ = try OlderRequests.Subscribe(wireBytes: bodies[0]) } catch {
            texts.append("\(error)")
        }
        do { _ = try OlderRequests.Question(wireBytes: bodies[1]) } catch {
            texts.append("\(error)")
        }
        #expect(texts.count == 2)
        for text in texts {
            let error = ClientError(Refusal(.decode, "ask: \(text)"), to: .selection)
            #expect(error.description.contains("too old to select"), "\(text)")
        }
        #expect(throws: WireError.self) {
            let body = ReactorWire.Question.types(path: "/a").wireBytes()
            do { _ = try OlderRequests.Question(wireBytes: body) } catch {
                let refusal = Refusal(.decode, "ask: \(error)")
                let text = ClientError(refusal, to: .types).description
                #expect(text.contains("asked for types") && text.contains("update it"))
                #expect(ClientError(refusal, to: nil) == .refused(refusal))
                throw error
            }
        }
        let other = Refusal(.decode, "the field is compared with a number")
        #expect(ClientError(other, to: .selection) == .refused(other))
    }
}

/// The requests of a daemon that knows no selections.
enum OlderRequests {
    @WireCodable
    enum Mode: String, CaseIterable, Sendable { case replica, value }

    @WireCodable
    struct Subscribe {
        var path: String
        var mode: Mode = Mode.value
    }

    @WireCodable
    enum Question { case get(path: String) }
}

@Suite("OrderedNames")
struct OrderedNamesTests {
    @Test("steps change the staged order, and take effect together or not at all")
    func steps() {
        var names = OrderedNames()
        names.plan(whole: ["a", "b"])
        var commits = [names.commit(), names.commit()]
        #expect(commits == [["a", "b"], nil])
        var areTaken = [
            names.plan(step: "0", inserting: nil), names.plan(step: "1", inserting: "c"),
        ]
        #expect(areTaken == [true, true] && Set(names.changedNames) == ["a", "c"])
        #expect(names.count(of: "a", isKnown: true) == 0)
        #expect(names.count(of: "c", isKnown: false) == 1)
        names.discard()
        commits = [names.commit()]
        #expect(commits == [nil])
        areTaken = [names.plan(step: "2", inserting: "c")]
        commits = [names.commit()]
        #expect(areTaken == [true] && commits == [["a", "b", "c"]])
        for (step, name) in [
            ("3", nil), ("4", "x"), ("x", "x"), ("-1", nil),
        ] as [(WireKey, WireKey?)] {
            areTaken = [names.plan(step: step, inserting: name)]
            #expect(areTaken == [false], "\(step)")
        }
    }
}
