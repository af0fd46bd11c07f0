import ReactorBytes
import ReactorCore
import ReactorServer
import ReactorWire
import Testing

/// The entries of the log, made from rows.
@Suite("LogDecoder")
struct LogDecoderTests {
    private func entries(
        _ harness: ServerHarness, below path: SlicePath = .root
    ) throws -> [LogEntry] {
        var decoder = LogDecoder()
        return try harness.rows.flatMap { try decoder.entries(of: $0, at: 1_000, below: path) }
    }

    @Test("a run has one entry for each action, with caller, node, action and mutations")
    func run() throws {
        let harness = try ServerHarness.keeping()
        let client = harness.client()
        client.open("/visits")
        client.add(2)
        client.add(3)
        harness.turn()
        let told = try entries(harness)
        #expect(told.map(\.revision) == [1, 2].map { Revision(epoch: 7, sequence: $0) })
        let caller = LogCaller(uid: 1_000, gid: 1_000, pid: 42)
        #expect(told.map(\.caller) == [caller, caller])
        #expect(told.map(\.origin.ordinal) == [1, 2])
        #expect(told[1].actions.map(\.path) == ["/visits"])
        #expect(
            try told[1].actions[0].action.decode(as: WireValue.self) == ["add": ["by": 3]])
        #expect(told[1].mutations.map(\.path) == ["/visits"])
        #expect(try entries(harness, below: SlicePath("/elsewhere")).isEmpty)
    }

    @Test("a refused action is at the place of its arrival, without a revision")
    func refused() throws {
        let harness = try ServerHarness.keeping()
        let client = harness.client()
        client.open("/visits")
        client.add(2)
        client.dispatch(["nonsense": [:]] as WireValue)
        client.add(3)
        harness.turn()
        let told = try entries(harness)
        #expect(told.map { $0.revision?.sequence } == [1, nil, 2])
        guard case .rejected(let code, _)? = told[1].outcome else {
            Issue.record("\(told[1])")
            return
        }
        #expect(code == "DECODE")
    }

    // [WIRE-11-3]
    @Test("an entry has the deterministic form of its action, whatever bytes the client sent")
    func poison() throws {
        let harness = try ServerHarness.keeping()
        let client = harness.client()
        client.open("/visits")
        client.send(.dispatch, number: 1, [0xc1, 0x60])
        // {"add": {"by": 4, "x": "ab"}} with a tag, an indefinite map, and a text in chunks
        client.send(
            .dispatch, number: 2,
            [0xa1, 0x63, 0x61, 0x64, 0x64, 0xc1, 0xbf, 0x62, 0x62, 0x79, 0x04, 0x61, 0x78, 0x7f]
                + [0x61, 0x61, 0x61, 0x62, 0xff, 0xff])
        client.send(.dispatch, number: 3, [0xff])
        client.send(.batch, number: 4, [0x81, 0x00])
        harness.turn()
        let told = try entries(harness)
        #expect(told.map { $0.revision?.sequence } == [nil, 1, nil, nil])
        let actions = told.map(\.actions)
        #expect(actions.map(\.count) == [1, 1, 1, 1])
        #expect(actions.map { $0[0].isRaw } == [false, false, true, false])
        #expect(actions[0][0].action.bytes == [0x60])
        let add: WireValue = ["add": ["by": 4, "x": "ab"]]
        #expect(actions[1][0].action == WireEmbedded(add))
        #expect(actions[2][0].action == WireEmbedded(WireValue.bytes([0xff])))
        #expect(actions[3][0].path == "/" && actions[3][0].action.bytes == [0x81, 0x00])
    }

    @Test("W18: an action with an unknown field whose name is no text is refused, and logged")
    func badName() throws {
        let harness = try ServerHarness.keeping()
        let client = harness.client()
        client.open("/visits")
        let add: [UInt8] = [0xa1, 0x63, 0x61, 0x64, 0x64, 0xa2, 0x62, 0x62, 0x79, 0x04]
        client.send(.dispatch, number: 1, add + [0x61, 0xff, 0x00])
        harness.turn()
        #expect(try OutcomeLog(client.frames())[1]?.code == "DECODE")
        let told = try entries(harness)
        #expect(told.map(\.actions.count) == [1])
        #expect(told[0].actions[0].isRaw)
    }

    @Test("the journal keeps a checksum of a large refused action, and the log shows it")
    func omitted() throws {
        let harness = try ServerHarness.keeping { $0.refusedBytesMax = 1_000 }
        let client = harness.client()
        client.open("/visits")
        let text = String(repeating: "no", count: 20_000)
        client.add(2)
        client.dispatch(Tally.Action.refuse(text: text))
        client.dispatch(Tally.Action.refuse(text: text), options: DispatchOptions(deadline: 1_000))
        client.batch([(0, Tally.Action.refuse(text: text))])
        client.dispatch(Tally.Action.refuse(text: "short"))
        harness.turn()
        #expect(harness.rows.allSatisfy { $0.facts.count < 5_000 })
        let told = try entries(harness)
        #expect(told.map(\.origin.ordinal) == [1, 2, 3, 4, 5])
        let frame = TestClient.frame(
            .dispatch, number: 2, Tally.Action.refuse(text: text).wireBytes())
        #expect(
            told[1].omitted
                == LogOmission(
                    paths: ["/visits"], byteCount: UInt64(frame.count),
                    checksum: WireChecksum(of: frame.span).value))
        #expect(told[1...3].allSatisfy { $0.omitted != nil && $0.actions.isEmpty })
        #expect(told[4].omitted == nil && told[4].actions.count == 1)
        #expect(try entries(harness, below: SlicePath("/visits")).count == 5)
        // The session is recovered after a restart all the same.
        let session = try #require(harness.server.statistics.rejections == 4 ? harness : nil)
        let restarted = try session.restarted()
        #expect(try restarted.tally("/visits").count == 2)
    }

    @Test("the log shows the greatest possible ordinal too")
    func lastOrdinal() throws {
        let harness = try ServerHarness.keeping()
        let client = harness.client()
        client.open("/visits")
        let action = Tally.Action.add(by: 1)
        client.dispatch(action, ordinal: .max - 1, options: DispatchOptions(deadline: 1_000))
        harness.turn()
        client.dispatch(action, ordinal: .max)
        harness.turn()
        #expect(try entries(harness).map(\.origin.ordinal) == [.max - 1, .max])
    }
}
