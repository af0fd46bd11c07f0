import ReactorClient
import ReactorCore
import ReactorServer
import StockReactors
import Testing

/// The client's machine against the server's, in memory.
struct ClientMachineTests {
    private typealias Action = StockReactors.Counter.Action

    @Test("an action is applied, and its mirror shows it when the outcome arrives")
    func dispatchAndMirror() throws {
        let rig = Rig()
        let client = rig.client()
        let node = try client.open("/visits", rig)
        let mirror = try client.mirror("/visits", rig)
        #expect(mirror.phase == .live && mirror.state.count == 0)
        var seen: [Int64] = []
        for _ in 0..<3 {
            try client.machine.dispatch(Action.increment(by: 2), to: node) { outcome in
                if case .applied(let revision, nil) = outcome {
                    #expect(mirror.revision.sequence >= revision.sequence)
                    seen.append(mirror.count)
                }
            }
            rig.run()
        }
        #expect(seen == [2, 4, 6])
        #expect(client.machine.pendingCount == 0)
    }

    @Test("thousands of actions keep their order in a window of sixteen")
    func pipelining() throws {
        let rig = Rig()
        var options = ClientOptions()
        options.inFlightMax = 16
        let client = rig.client(options)
        let node = try client.open("/visits", rig)
        var sequences: [UInt64] = []
        for _ in 0..<5_000 {
            try client.machine.dispatch(Action.increment(by: 1), to: node) { outcome in
                sequences.append(outcome.revision?.sequence ?? 0)
            }
        }
        rig.run(rounds: 100_000)
        #expect(sequences == Array(1...5_000))
        #expect(try rig.count(at: "/visits") == 5_000)
    }

    @Test("a rejection has a reason, and a condition that does not hold is a rejection")
    func rejections() throws {
        let rig = Rig()
        let client = rig.client()
        let node = try client.open("/visits", rig)
        var codes: [String] = []
        func note(_ outcome: ActionOutcome) {
            if case .rejected(let rejection) = outcome { codes.append(rejection.code) }
        }
        try client.machine.dispatch(Action.increment(by: .max), to: node)
        try client.machine.dispatch(Action.increment(by: 1), to: node, then: note)
        let expected = DispatchOptions(expected: Revision(epoch: 7, sequence: 99))
        try client.machine.submit(OutgoingAction(Action.reset, to: node, expected), then: note)
        rig.run()
        #expect(codes == ["overflow", "CONFLICT"])
    }

    @Test("a path without a node is refused with the nearest path")
    func refusedPath() throws {
        let rig = Rig()
        let client = rig.client()
        var refusal: ClientError?
        client.machine.open("/visit") { result in
            if case .failure(let error) = result { refusal = error }
        }
        rig.run()
        guard case .refused(let reason) = refusal else {
            Issue.record("expected a refusal, got \(String(describing: refusal))")
            return
        }
        #expect(reason.code == .notFound && reason.nearest == "/visits")
    }

    @Test("a batch changes two nodes at one revision, and two mirrors advance together")
    func batchAndMirrors() throws {
        let rig = Rig()
        let client = rig.client()
        let visits = try client.open("/visits", rig)
        let other = try client.open("/other", rig)
        let first = try client.mirror("/visits", rig)
        let second = try client.mirror("/other", rig)
        var revision: Revision?
        let batch = OutgoingAction(batch: [
            (visits, WireEmbedded(Action.increment(by: 3))),
            (other, WireEmbedded(Action.decrement(by: 3))),
        ])
        try client.machine.submit(batch) { revision = $0.revision }
        rig.run()
        #expect(revision == Revision(epoch: 7, sequence: 1))
        #expect(first.state.count == 3 && second.state.count == -3)
        #expect(first.revision == revision && second.revision == revision)
    }

    @Test("C89: a client requests again a first snapshot that was lost with its connection")
    func lostSnapshot() throws {
        let machine = ClientMachine(random: { 0 })
        let fingerprint = StockReactors.Counter.fingerprint
        func greet() throws -> [Frame] {
            machine.connected()
            let limits = Welcome.Limits(
                frameBytesMax: 1 << 20, inFlightMax: 16, nodesMax: 16, subscriptionsMax: 16)
            let welcome = Welcome(
                version: 1, daemon: "d", epoch: 7, sequence: 3,
                session: [UInt8](repeating: 1, count: 16), isResumed: true, client: 1, ordinal: 0,
                limits: limits)
            machine.receive(Frame(.welcome, welcome.wireBytes()).bytes.span)
            let out = machine.takeOutgoing()
            return try Frame.split(out.map { Array($0.bytes[$0.range]) } ?? [])
        }
        machine.start()
        _ = try greet()
        var shown: [ReactorClient.Mirror<StockReactors.Counter>] = []
        for path in ["/visits", "/other"] {
            machine.mirror(StockReactors.Counter.self, at: path) {
                if case .success(let mirror) = $0 { shown.append(mirror) }
            }
        }
        let state = StockReactors.Counter.State().wireBytes()
        let granted = Subscribed(
            start: .snapshot, reactor: "Counter", fingerprint: fingerprint, sequence: 3)
        machine.receive(
            [
                Frame(.subscribed, id: 5, number: 1, granted.wireBytes()),
                Frame(.subscribed, id: 6, number: 2, granted.wireBytes()),
                Frame(.snapshot, id: 5, number: 3, state),
                // The first of these frames cannot be read: the connection is lost, and with it the
                // second.
                Frame(.snapshot, id: 6, number: 3, [0x61]), Frame(.mark, number: 3),
            ].bytes.span)
        #expect(shown.isEmpty)
        _ = machine.takeOutputs()
        machine.timerFired()
        let requests = try greet().filter { $0.kind == .subscribe }
        #expect(try requests.map { try Subscribe(wireBytes: $0.body.span).from } == [nil, nil])
    }

    @Test("the same path and type give the same mirror")
    func sameMirror() throws {
        let rig = Rig()
        let client = rig.client()
        #expect(try client.mirror("/visits", rig) === client.mirror("/visits", rig))
    }

    @Test("more bytes of waiting actions than queueBytesMax are refused")
    func fullQueue() throws {
        let rig = Rig()
        var options = ClientOptions()
        options.queueBytesMax = 1_000
        options.inFlightMax = 1
        let client = rig.client(options)
        let node = try client.open("/visits", rig)
        #expect(throws: ClientError.queueFull(bytesMax: 1_000)) {
            for _ in 0..<100 { try client.machine.dispatch(Action.reset, to: node) }
        }
        rig.run()
        #expect(client.machine.pendingCount == 0)
        try client.machine.dispatch(Action.reset, to: node)
    }

    @Test("an action that exceeds every frame is refused by the call that sends it")
    func tooLarge() throws {
        let rig = Rig()
        let client = rig.client()
        let node = try client.open("/visits", rig)
        let bytes = [UInt8](repeating: 0, count: 2 << 20)
        #expect(throws: ClientError.tooLarge(byteCount: 2 << 20, bytesMax: 1 << 20)) {
            try client.machine.submit(OutgoingAction(encoded: bytes, to: node))
        }
        rig.run()
        #expect(client.machine.phase == .live && client.machine.pendingCount == 0)
    }

    @Test("an action without an outcome does not make the ring grow with all later actions")
    func straggler() throws {
        let rig = Rig(tree: Tree(StockReactors.Lock(), epoch: 7))
        let holder = rig.client()
        let held = try holder.open("/", rig)
        try holder.machine.dispatch(StockReactors.Lock.Action.acquire(wait: false), to: held)
        rig.run()
        let waiter = rig.client()
        let node = try waiter.open("/", rig)
        var isAcquired = false
        try waiter.machine.dispatch(StockReactors.Lock.Action.acquire(wait: true), to: node) {
            if case .applied(_, .some) = $0 { isAcquired = true }
        }
        for _ in 0..<30 {
            for _ in 0..<1_000 {
                try waiter.machine.dispatch(
                    StockReactors.Lock.Action.release(token: 99), to: node)
            }
            rig.run()
        }
        #expect(!isAcquired && waiter.machine.pendingCount == 1)
        rig.cut(holder)
        rig.run()
        #expect(isAcquired && waiter.machine.pendingCount == 0)
    }

    @Test("closing reports each action's outcome as unknown, and ends every mirror")
    func close() throws {
        let rig = Rig()
        let client = rig.client()
        let node = try client.open("/visits", rig)
        let mirror = try client.mirror("/visits", rig)
        var outcomes: [ActionOutcome] = []
        try client.machine.dispatch(Action.reset, to: node) { outcomes.append($0) }
        client.machine.close()
        #expect(outcomes == [.unknown(.ended)])
        #expect(mirror.phase == .failed(.ended))
        #expect(throws: ClientError.ended) {
            try client.machine.dispatch(Action.reset, to: node)
        }
    }

    @Test("a drain waits for the actions before it, and not for those after it")
    func drains() throws {
        let rig = Rig(tree: Tree(StockReactors.Lock(), epoch: 7))
        let holder = rig.client()
        let held = try holder.open("/", rig)
        try holder.machine.dispatch(StockReactors.Lock.Action.acquire(wait: false), to: held)
        let client = rig.client()
        let node = try client.open("/", rig)
        var isDrained = false
        try client.machine.dispatch(StockReactors.Lock.Action.release(token: 99), to: node)
        client.machine.drain { isDrained = true }
        #expect(!isDrained)
        // The outcome comes only after the holder's connection has ended.
        try client.machine.dispatch(StockReactors.Lock.Action.acquire(wait: true), to: node)
        rig.run()
        #expect(isDrained && client.machine.pendingCount == 1)
        var isClosed = false
        client.machine.drain { isClosed = true }
        #expect(!isClosed)
        client.machine.close()
        #expect(isClosed)
    }
}
