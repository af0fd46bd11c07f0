import ReactorBytes
import ReactorCore
import ReactorServer
import ReactorWire
import Testing

/// A shell without a loop: it executes the server's orders, over sockets that are arrays.
final class ServerHarness {
    let server: Server
    /// The time in nanoseconds; the test sets it.
    var now: UInt64 = 1_000_000_000
    /// Whether a batch is appended as soon as the server orders it.
    var appendsAtOnce = true
    private(set) var unappended: [UInt64] = []
    private(set) var batches: [Batch] = []
    private(set) var events: [ServerEvent] = []
    /// The journal's answer to a question about missed updates; without a function, it has none.
    var past: ((HistoryQuestion) -> [UInt8]?)?
    /// Whether questions about missed updates are answered at once.
    var answersHistory = true
    /// Questions that were not answered.
    private(set) var questions: [HistoryQuestion] = []
    private(set) var inquiries: [Inquiry] = []
    /// What the server passed to the leading one, and has not been taken.
    private var requests: [ForwardRequest] = []
    /// What the server answered to other daemons.
    private(set) var replies: [ForwardReply] = []
    /// How often the server wanted its state to be confirmed.
    private(set) var confirmCount = 0
    /// Times at which the server wants to be woken.
    private(set) var wakes: [UInt64] = []
    /// Whether large answers are encoded at once.
    var encodesAtOnce = true
    /// Captures that were not encoded.
    var captures: [SliceCapture] = []
    private(set) var snapshots: [ServerSnapshot] = []
    private(set) var probes: [StateProbe] = []
    /// The turns of the rows of a followed server.
    private(set) var followedTurns: Set<UInt64> = []
    private var sockets: [ConnectionID: FakeSocket] = [:]
    private var lastID: UInt64 = 0

    init(
        _ tree: Tree = TestTree.make(), ownerUID: UInt32 = 1_000, hasJournal: Bool = true,
        change: (inout ServerLimits) -> Void = { _ in }
    ) {
        var limits = ServerLimits()
        change(&limits)
        var secret: UInt64 = 0
        server = Server(
            tree, limits: limits, daemonName: "test", ownerUID: ownerUID, hasJournal: hasJournal
        ) {
            secret += 1
            return secret
        }
    }

    /// Continues from a recovered state, with the connections in `handover`.
    init(
        _ recovery: Recovery, isReadOnly: Bool = false, secretsFrom first: UInt64 = 1_000,
        after handover: ServerHandover? = nil
    ) {
        var secret = first
        server = Server(
            recovery, isReadOnly: isReadOnly, daemonName: "test", after: handover
        ) {
            secret += 1
            return secret
        }
        lastID = server.highestConnection
    }

    /// Follows another server from a recovered state, as daemon `node`.
    init(following recovery: Recovery, leader: String? = "a", as node: UInt8 = 2) {
        var secret = UInt64(node) << 20
        server = Server(
            following: recovery, leader: leader, as: node, isCut: false, daemonName: "test"
        ) {
            secret += 1
            return secret
        }
        lastID = UInt64(node) << 56
    }

    /// Applies rows of the followed server, a turn each.
    func follow(_ rows: [Batch]) throws {
        for row in rows {
            followedTurns.insert(try server.follow(row, at: now))
            turn()
        }
        settle()
    }

    /// The rows that a journal would contain so far, from the appended batches.
    var rows: [Batch] { Array(batches.dropLast(unappended.count)) }

    /// Takes what the server passed to the leading one.
    func takeRequests() -> [ForwardRequest] {
        defer { requests = [] }
        return requests
    }

    /// Connects a client that has not sent anything yet.
    func connect(
        uid: UInt32 = 1_000, gid: UInt32? = nil, pid: Int32 = 42, isAtAdminSocket: Bool = false
    ) -> TestClient {
        lastID += 1
        let id = ConnectionID(lastID)
        let socket = FakeSocket()
        sockets[id] = socket
        let peer = Peer(
            uid: uid, gid: gid ?? uid, pid: pid, isAtAdminSocket: isAtAdminSocket)
        server.connect(id, peer, at: now)
        return TestClient(self, id, socket)
    }

    /// Connects a client and reads its welcome.
    func client(uid: UInt32 = 1_000, session: [UInt8]? = nil, confirmed: UInt64 = 0) -> TestClient {
        let client = connect(uid: uid)
        client.hello(Hello(session: session, confirmed: confirmed))
        turn()
        return client
    }

    /// Connects a client with `/visits`, `/other`, `/page`, `/house` open as 0 to 3.
    func start() -> TestClient {
        let client = client()
        for (id, path) in ["/visits", "/other", "/page", "/house"].enumerated() {
            client.open(path, as: UInt32(id))
        }
        turn()
        _ = client.frames()
        return client
    }

    /// Ends the turn, and executes the resulting orders.
    func turn() {
        server.endTurn(at: now)
        carryOut()
        let differences = server.ledgerDifferences()
        #expect(differences == [])
    }

    /// A snapshot of the state at the end of the current turn.
    func beginSnapshot() throws -> ServerSnapshot {
        let count = snapshots.count
        server.wantSnapshot()
        turn()
        try #require(snapshots.count == count + 1)
        return snapshots[count]
    }

    /// Collects all parts of a snapshot.
    func parts(of snapshot: ServerSnapshot) -> [[UInt8]] {
        var parts: [[UInt8]] = []
        while !snapshot.isComplete {
            parts += snapshot.gather().map { $0() }
            turn()
        }
        return parts
    }

    /// Ends turns until none is needed.
    func settle() {
        carryOut()
        while server.needsTurn { turn() }
    }

    func carryOut() {
        while true {
            let outputs = server.takeOutputs()
            if outputs.isEmpty { return }
            for output in outputs { carryOut(output) }
        }
    }

    private func carryOut(_ output: ServerOutput) {
        switch output {
        case .write(let id, let slices):
            guard let socket = sockets[id] else { return }
            socket.take(slices)
            pump(id, socket)
        case .pauseReading(let id): sockets[id]?.isPaused = true
        case .resumeReading(let id): sockets[id]?.isPaused = false
        case .close(let id): close(id)
        case .cut(let id): disconnect(id)
        case .append(let batch):
            batches.append(batch)
            unappended.append(batch.turn)
            if appendsAtOnce { append(1) }
        case .readHistory(let question):
            guard answersHistory else {
                questions.append(question)
                return
            }
            server.answer(question.number, with: past?(question), at: now)
        case .beginSnapshot: if let snapshot = server.snapshot { snapshots.append(snapshot) }
        case .sum(let probe): probes.append(probe)
        case .encode(let capture):
            guard encodesAtOnce else {
                captures.append(capture)
                return
            }
            server.encoded(capture.encode())
        case .cutConnections: for id in sockets.keys { disconnect(id) }
        case .log(let event): events.append(event)
        case .inquire(let inquiry): inquiries.append(inquiry)
        case .confirm: confirmCount += 1
        case .forward(let request): requests.append(request)
        case .reply(_, let reply): replies.append(reply)
        case .wake(let time): wakes.append(time)
        }
    }

    /// Appends the next `count` batches.
    func append(_ count: Int = .max) {
        for turn in unappended.prefix(count) {
            unappended.removeFirst()
            server.appended(turn, at: now)
        }
        carryOut()
    }

    /// Passes bytes to a socket as far as its reader has room.
    func pump(_ id: ConnectionID, _ socket: FakeSocket) {
        guard !socket.isClosed, socket.move() else { return }
        if socket.isFinishing { return disconnect(id) }
        server.written(id, at: now)
    }

    /// Closes a socket once its reader has taken all bytes.
    private func close(_ id: ConnectionID) {
        guard let socket = sockets[id] else { return }
        guard socket.waitingBytes > 0 else { return disconnect(id) }
        socket.isFinishing = true
    }

    /// Holds the input until another process may take over, and returns what that needs. Clients
    /// belong to the result of ``succeed(_:behind:_:)`` then.
    func handOver(asking asker: TestClient? = nil) throws -> ServerHandover {
        server.holdInput(true, at: now)
        settle()
        #expect(server.isSettled)
        let handover = server.handOver(
            unsent: { sockets[$0]?.takeWaiting() ?? [] }, asking: asker?.id,
            number: inquiries.last?.number ?? 0)
        return try ServerHandover(keptBytes: handover.wireBytes().span)
    }

    /// Takes over the connections of `former`, at whose rows `root` begins.
    static func succeed(
        _ former: ServerHarness, with root: some Reactor, _ handover: ServerHandover,
        quotas: QuotaRules = QuotaRules(), rules: AccessRules? = nil
    ) throws -> (harness: ServerHarness, taken: TakenConnections) {
        let recovery = Recovery(of: Tree(root, epoch: 99), limits: ServerLimits())
        for row in former.rows { try recovery.replay(row) }
        let revision = handover.revision
        let harness = ServerHarness(
            try recovery.finish(epoch: revision.epoch, sequence: revision.sequence),
            secretsFrom: 5_000, after: handover)
        harness.sockets = former.sockets
        harness.lastID = handover.lastConnection
        for socket in harness.sockets.values { socket.isPaused = true }
        let server = harness.server
        server.apply(quotas)
        if let rules { server.apply(rules, ownerUID: 1_000) }
        let taken = server.takeOver(handover, at: harness.now) { handed in
            Peer(uid: handed.uid, gid: handed.gid, pid: handed.pid)
        }
        harness.turn()
        server.holdInput(false, at: harness.now)
        harness.settle()
        return (harness, taken)
    }

    func disconnect(_ id: ConnectionID) {
        guard let socket = sockets.removeValue(forKey: id) else { return }
        socket.isClosed = true
        server.disconnect(id, at: now)
    }
}

/// The daemon's end of a socket, with the number of bytes that the reader still takes.
final class FakeSocket {
    /// Number of bytes that the reader still takes; the rest waits.
    var room = Int.max
    var isPaused = false
    var isClosed = false
    /// Whether the socket closes once its reader has taken all bytes.
    var isFinishing = false
    private(set) var received: [UInt8] = []
    private var waiting: [UInt8] = []
    private var isBusy = false

    /// Number of bytes that the reader has not taken.
    var waitingBytes: Int { waiting.count }

    func take(_ slices: ByteSlices) {
        precondition(!isBusy, "one write at a time")
        isBusy = true
        for slice in slices { waiting.append(contentsOf: slice.storage[slice.range]) }
    }

    /// Takes the bytes that the reader has not taken, for another process.
    func takeWaiting() -> [UInt8] {
        defer { (waiting, isBusy) = ([], false) }
        return waiting
    }

    /// Moves as many bytes as the reader has room for; returns whether that completed the write.
    func move() -> Bool {
        guard isBusy else { return false }
        let count = min(room, waiting.count)
        received.append(contentsOf: waiting.prefix(count))
        waiting.removeFirst(count)
        if room != .max { room -= count }
        guard waiting.isEmpty else { return false }
        isBusy = false
        return true
    }
}
