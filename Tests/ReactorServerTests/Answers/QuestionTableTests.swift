import ReactorBytes
import ReactorCore
import ReactorWire
import Testing

@testable import ReactorServer

/// The server charges each question with the work that it causes.
struct QuestionTableTests {
    /// A server whose `/page` is large, and is encoded when the test says so.
    private func large(
        change: (inout ServerLimits) -> Void = { _ in }
    ) -> (harness: ServerHarness, writer: TestClient) {
        let harness = ServerHarness { change(&$0) }
        harness.encodesAtOnce = false
        let writer = harness.client()
        writer.open("/page")
        writer.open("/house", as: 1)
        writer.dispatch(Page.Action.body(String(repeating: "x", count: 200_000)))
        harness.settle()
        _ = writer.frames()
        return (harness, writer)
    }

    private func encode(_ harness: ServerHarness) throws {
        let capture = try #require(harness.captures.first)
        harness.captures.removeFirst()
        harness.server.encoded(capture.encode())
        harness.settle()
    }

    /// Spellings of `/page`.
    private static let spellings: [String] = (0..<16).map { bits in
        "/"
            + zip("page", ["%70", "%61", "%67", "%65"]).enumerated().map { index, letter in
                bits & 1 << index == 0 ? String(letter.0) : letter.1
            }.joined()
    }

    @Test("fifty questions in sixteen spellings share one encoding, outside the loop")
    func spellings() throws {
        let (harness, _) = large()
        let (asking, other) = (harness.client(), harness.client())
        _ = (asking.frames(), other.frames())
        for index in 0..<50 { asking.ask(.checksum(path: Self.spellings[index % 16])) }
        harness.turn()
        #expect(harness.captures.count == 1)
        other.send(.ping)
        harness.turn()
        #expect(other.frames().map(\.kind) == [.pong])
        #expect(!harness.server.needsTurn)
        try encode(harness)
        let sums = try asking.frames().filter { $0.flags == [] }.map {
            try $0.decode(SliceChecksum.self).checksum
        }
        #expect(sums.count == 50 && Set(sums).count == 1)
        // The server does not sum up an unchanged value again.
        asking.ask(.checksum(path: "/page"))
        harness.turn()
        #expect(harness.captures.isEmpty && asking.frames(.answer).count == 1)
    }

    // [WIRE-11-7]
    @Test("C91: a late checksum is as of the mark that an empty part announced")
    func announced() throws {
        let (harness, writer) = large()
        let reader = harness.client()
        reader.subscribe("/page")
        harness.settle()
        let snapshot = reader.frames().filter { $0.kind == .snapshot }.flatMap(\.body)
        reader.ask(.checksum(path: "/page"))
        harness.turn()
        let announcement = try #require(reader.frames().first { $0.kind == .answer })
        #expect(announcement.flags == .more && announcement.body.isEmpty)
        writer.dispatch(Page.Action.title("new"))
        harness.turn()
        try encode(harness)
        let answer = try #require(reader.frames(.answer).first).decode(SliceChecksum.self)
        #expect(answer.revision.sequence == 1)
        #expect(answer.checksum == WireChecksum(of: snapshot.span).value)
    }

    // [WIRE-11-7]
    @Test("C91: a checksum that joins an encoding in progress is announced as well")
    func joined() throws {
        let (harness, writer) = large()
        let (first, second) = (harness.client(), harness.client())
        second.subscribe("/page")
        harness.settle()
        let snapshot = second.frames().filter { $0.kind == .snapshot }.flatMap(\.body)
        _ = first.frames()
        first.ask(.checksum(path: "/page"))
        harness.turn()
        second.ask(.checksum(path: "/page"))
        harness.turn()
        let frames = second.frames()
        let place = try #require(frames.firstIndex { $0.kind == .answer })
        #expect(frames[place].flags == .more && frames[place].body.isEmpty)
        #expect(frames[place...].contains { $0.kind == .mark })
        writer.dispatch(Page.Action.title("new"))
        harness.turn()
        #expect(harness.captures.count == 1)
        try encode(harness)
        let answer = try #require(second.frames(.answer).first).decode(SliceChecksum.self)
        #expect(answer.checksum == WireChecksum(of: snapshot.span).value)
    }

    @Test("a question after a change does not get an encoding from before it")
    func fresh() throws {
        let (harness, writer) = large()
        harness.turn()
        writer.ask(.get(path: "/page"))
        harness.turn()
        writer.ask(.get(path: "/page"))
        writer.dispatch(Page.Action.title("new"))
        writer.ask(.get(path: "/page"))
        harness.turn()
        try encode(harness)
        #expect(writer.frames(.answer).filter { $0.flags == [] }.map(\.number) == [3, 4])
        try encode(harness)
        let parts = writer.frames(.answer)
        #expect(Set(parts.map(\.number)) == [5])
        var cursor = WireCursor()
        let body = parts.flatMap(\.body)
        _ = try cursor.openArray(in: body.span)
        #expect(try Revision.decode(body.span, &cursor).sequence == 2)
    }

    @Test("large encodings run one after another, and users take turns")
    func turns() throws {
        let (harness, writer) = large()
        for name in ["a", "b", "c"] {
            writer.dispatch(House.Action.build(name: name), to: 1)
        }
        harness.settle()
        let (greedy, other) = (harness.client(uid: 5), harness.client(uid: 6))
        _ = (greedy.frames(), other.frames())
        for path in ["/", "/page", "/page/body", "/house"] { greedy.ask(.get(path: path)) }
        other.ask(.get(path: "/page/title"))
        harness.settle()
        #expect(harness.captures.count == 1)
        try encode(harness)
        #expect(harness.captures.count == 1)
        try encode(harness)
        #expect(other.frames(.answer).count == 1)
        while !harness.captures.isEmpty { try encode(harness) }
        #expect(Set(greedy.frames(.answer).map(\.number)) == [1, 2, 3, 4])
    }

    @Test("questions beyond the share of a turn wait for the next, and users take turns")
    func share() throws {
        // The minimum charge of one question.
        let harness = ServerHarness { $0.answerBytesPerTurnMax = 64 }
        let (greedy, other) = (harness.client(uid: 5), harness.client(uid: 6))
        _ = (greedy.frames(), other.frames())
        let fields = ["/visits/count", "/other/count", "/page/title", "/page/body", "/house/built"]
        for path in fields { greedy.ask(.get(path: path)) }
        other.ask(.get(path: "/visits/holders"))
        harness.turn()
        #expect(greedy.frames(.answer).map(\.number) == [1, 2])
        #expect(harness.server.hasHeldInput && other.frames(.answer).isEmpty)
        harness.turn()
        #expect(greedy.frames(.answer).isEmpty && other.frames(.answer).count == 1)
        harness.settle()
        #expect(greedy.frames(.answer).map(\.number) == [3, 4, 5])
    }

    @Test("all questions are answered, however few of a connection may wait")
    func bound() throws {
        let (harness, _) = large { $0.questionsPerConnectionMax = 4 }
        let client = harness.client()
        _ = client.frames()
        for index in 0..<40 { client.ask(.checksum(path: Self.spellings[index % 16])) }
        let connection = try #require(harness.server.connections[client.id])
        #expect(connection.inlet.value.state == .paused && connection.requests.questionCount == 4)
        harness.turn()
        try encode(harness)
        harness.settle()
        #expect(client.frames(.answer).filter { $0.flags == [] }.count == 40)
        #expect(!client.socket.isPaused)
    }

    @Test("a question about a removed node is refused; one of a closed connection costs nothing")
    func gone() throws {
        let (harness, writer) = large()
        writer.dispatch(House.Action.build(name: "a"), to: 1)
        harness.settle()
        let (first, second) = (harness.client(), harness.client())
        _ = (first.frames(), second.frames())
        first.ask(.get(path: "/page"))
        harness.settle()
        first.ask(.get(path: "/house/rooms/a"))
        second.ask(.get(path: "/house"))
        harness.settle()
        second.disconnect()
        writer.dispatch(House.Action.tear(name: "a"), to: 1)
        harness.settle()
        try encode(harness)
        #expect(harness.captures.count == 1)
        try encode(harness)
        #expect(harness.captures.isEmpty && !harness.server.needsTurn)
        let last = try #require(first.frames().last)
        #expect(last.kind == .answer && last.flags == [])
        #expect(last.body.suffix(2) == [0xf4, 0xf6], "a collection may have such a child later")
    }

    @Test("one slice at a time is encoded off the loop, and later questions join it")
    func running() throws {
        let bench = try OrganBench()
        var table = QuestionTable()
        let page = try #require(try bench.tree.node(at: SlicePath("/page")))
        let name = SliceName(form: .value, path: try SlicePath("/page"))
        let encoding = page.captureValue(at: []).encode()
        table.finish(encoding)
        #expect(!table.hasFinished, "nothing was to be encoded")
        func asker(_ number: UInt64) -> Asker {
            bench.connection.requests.ask(number)
            return Asker(
                connection: bench.connection, number: number, purpose: .whole, sequence: 0)
        }
        table.list(asker(1), for: name, of: page)
        let soon = table.popSoon()
        let taken = try #require(soon)
        table.postpone(taken)
        #expect(table.hasLate && !table.hasSoon)
        let next = table.popLate()
        let late = try #require(next)
        table.run(late.name, SliceState(of: page, at: 0), for: late.askers)
        table.list(asker(2), for: name, of: page)
        #expect(table.isEncoding && !table.hasSoon && !table.hasFinished)
        table.finish(encoding)
        let made = table.takeFinished()
        let finished = try #require(made)
        #expect(finished.running.askers.map(\.number) == [1, 2] && !table.isActive)
        #expect(table.checksum(of: name, page) == nil)
        table.learn(
            finished.encoding, of: name, finished.running.state,
            grownBytes: finished.running.grownBytes)
        #expect(table.checksum(of: name, page) == encoding.checksum)
    }
}
