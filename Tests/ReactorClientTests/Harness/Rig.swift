import ReactorBytes
import ReactorCore
import ReactorServer
import StockReactors
import Testing

@testable import ReactorClient

/// A server without I/O and client machines, joined by byte arrays that a test can cut.
final class Rig {
    private(set) var server: Server
    /// The rows that the journal appended.
    private(set) var rows: [Batch] = []
    /// What the journal does with batches.
    var journal = JournalBehavior.tells
    private var lastSecret: UInt64
    /// Makes the daemon's root, for a daemon with a history.
    private let root: () -> any Reactor
    private var lastConnection: UInt64 = 0
    private var wires: [ConnectionID: Wire] = [:]
    private(set) var machines: [Joined] = []
    /// Captures that a test encodes later, as the daemon does outside of its loop.
    var captures: [SliceCapture] = []

    /// What the journal does with the batches of a turn.
    enum JournalBehavior {
        /// The journal appends them, and informs the server.
        case tells
        /// The journal appends them, and does not inform the server yet.
        case isSilent
        /// The journal does not append them.
        case holds
    }

    /// A client with its present connection.
    final class Joined {
        let machine: ClientMachine
        fileprivate var wire: Wire?
        var isTimerSet = false
        var connectCount = 0
        /// Number of bytes that pass from the client, or to it, before the connection is cut.
        var upBudget = Int.max
        var downBudget = Int.max
        /// Frames that the client has sent, on all its connections.
        fileprivate(set) var sent: [Frame] = []
        /// Changes the bytes that the daemon sends to the client, once a write.
        var onDown: (([Frame]) -> [UInt8])?

        init(_ machine: ClientMachine) { self.machine = machine }
    }

    fileprivate final class Wire {
        let id: ConnectionID
        let owner: Joined
        var isOpen = true

        init(_ id: ConnectionID, _ owner: Joined) {
            self.id = id
            self.owner = owner
        }
    }

    init(epoch: UInt64 = 7, limits: ServerLimits = ServerLimits(), tree: Tree? = nil) {
        var secret: UInt64 = epoch
        lastSecret = epoch
        root = { House() }
        server = Server(tree ?? Tree(House(), epoch: epoch), limits: limits) {
            secret += 1
            return secret
        }
    }

    /// Starts a daemon with a new history.
    init(
        keepingHistoryOf epoch: UInt64, limits: ServerLimits = ServerLimits(),
        root: @escaping () -> any Reactor = { House() }
    ) throws {
        lastSecret = epoch << 32
        self.root = root
        server = try Self.server(root(), going: [], as: epoch, limits, from: lastSecret)
    }

    deinit {
        for wire in wires.values { wire.owner.wire = nil }
    }

    private static func server(
        _ root: some Reactor, going rows: [Batch], as epoch: UInt64, _ limits: ServerLimits,
        from secret: UInt64
    ) throws -> Server {
        let tree = Tree(root, epoch: epoch, recordsDeltas: true)
        let recovery = Recovery(of: tree, limits: limits)
        for row in rows { try recovery.replay(row) }
        var secret = secret
        return Server(try recovery.finish(epoch: epoch, sequence: rows.last?.sequence ?? 0)) {
            secret += 1
            return secret
        }
    }

    /// Kills the daemon, and starts another that continues with the journal without its last `lost`
    /// rows; every connection ends.
    func restart(epoch: UInt64, losing lost: Int = 0) throws {
        let owners = wires.values.map(\.owner)
        for wire in wires.values { wire.isOpen = false }
        for owner in owners { owner.wire = nil }
        wires = [:]
        rows.removeLast(lost)
        lastSecret += 1 << 20
        server = try Self.server(
            root(), going: rows, as: epoch, server.limits, from: lastSecret)
        journal = .tells
        lastConnection = max(lastConnection, server.highestConnection)
        for owner in owners { owner.machine.disconnected() }
    }

    /// A client that has been started.
    func client(
        _ options: ClientOptions = ClientOptions(), journal: ClientJournal? = nil
    ) -> Joined {
        var draws: UInt64 = 0
        let joined = Joined(
            ClientMachine(options, journal: journal) {
                draws += 1
                return draws
            })
        machines.append(joined)
        joined.machine.start()
        return joined
    }

    /// A client that sends its hello before every other client.
    func newcomer() -> Joined {
        let joined = client()
        while joined.machine.welcome == nil {
            _ = step(joined)
            server.endTurn(at: 0)
            _ = carryOutServer()
        }
        return joined
    }

    /// Passes bytes and orders both ways until no side has any left.
    func run(rounds: Int = 10_000) {
        for _ in 0..<rounds {
            var isBusy = false
            for joined in machines where step(joined) { isBusy = true }
            if server.needsTurn {
                server.endTurn(at: 0)
                isBusy = true
            }
            if carryOutServer() { isBusy = true }
            if !isBusy { return }
        }
    }

    /// Cuts a client's connection, which both sides notice.
    func cut(_ joined: Joined) {
        guard let wire = joined.wire, wire.isOpen else { return }
        drop(wire)
        joined.machine.disconnected()
    }

    /// Ends a client without a goodbye.
    func crash(_ joined: Joined) {
        machines.removeAll { $0 === joined }
        if let wire = joined.wire { drop(wire) }
    }

    /// Lets a suspended client notice that its connection is lost.
    func comeBack(_ joined: Joined) {
        machines.append(joined)
        joined.machine.disconnected()
    }

    /// Passes bytes to a client as if from the daemon.
    func forge(_ bytes: [UInt8], to joined: Joined) { joined.machine.receive(bytes.span) }

    private func step(_ joined: Joined) -> Bool {
        var isBusy = false
        if let out = joined.machine.takeOutgoing() {
            isBusy = true
            if let wire = joined.wire, wire.isOpen { up(Array(out.bytes[out.range]), wire) }
        }
        for output in joined.machine.takeOutputs() {
            isBusy = true
            switch output {
            case .connect: connect(joined)
            case .close: if let wire = joined.wire { drop(wire) }
            case .setTimer: joined.isTimerSet = true
            case .stopTimer: joined.isTimerSet = false
            }
        }
        // No other event is left: the pause before the next attempt is over.
        if !isBusy, joined.isTimerSet, joined.wire == nil {
            joined.isTimerSet = false
            joined.machine.timerFired()
            isBusy = true
        }
        return isBusy
    }

    private func connect(_ joined: Joined) {
        lastConnection += 1
        let wire = Wire(ConnectionID(lastConnection), joined)
        joined.wire = wire
        joined.connectCount += 1
        wires[wire.id] = wire
        server.connect(wire.id, Peer(uid: 1, gid: 1, pid: 1), at: 0)
        joined.machine.connected()
    }

    private func drop(_ wire: Wire) {
        wire.isOpen = false
        wires[wire.id] = nil
        if wire.owner.wire === wire { wire.owner.wire = nil }
        server.disconnect(wire.id, at: 0)
    }

    private func up(_ bytes: [UInt8], _ wire: Wire) {
        wire.owner.sent += (try? Frame.split(bytes)) ?? []
        let passed = min(bytes.count, wire.owner.upBudget)
        wire.owner.upBudget -= passed
        if passed > 0 { server.receive(wire.id, bytes.span.extracting(0..<passed), at: 0) }
        if passed < bytes.count {
            wire.owner.upBudget = .max
            server.endTurn(at: 0)
            cut(wire.owner)
        }
    }

    private func down(_ written: [UInt8], _ wire: Wire) {
        guard wire.isOpen else { return }
        let bytes = wire.owner.onDown.map { $0((try? Frame.split(written)) ?? []) } ?? written
        let passed = min(bytes.count, wire.owner.downBudget)
        wire.owner.downBudget -= passed
        wire.owner.machine.receive(bytes.span.extracting(0..<passed))
        if passed < bytes.count {
            wire.owner.downBudget = .max
            cut(wire.owner)
        }
    }

    private func append(_ batch: Batch) {
        guard journal != .holds else { return }
        rows.append(batch)
        if journal == .tells { server.appended(batch.turn, at: 0) }
    }

    private func carryOutServer() -> Bool {
        let outputs = server.takeOutputs()
        for output in outputs {
            switch output {
            case .write(let id, let slices):
                guard let wire = wires[id] else { continue }
                down(slices.flatMap { Array($0.storage[$0.range]) }, wire)
                server.written(id, at: 0)
            case .close(let id), .cut(let id):
                guard let wire = wires[id] else { continue }
                let owner = wire.owner
                drop(wire)
                owner.machine.disconnected()
            case .cutConnections:
                for wire in wires.values {
                    drop(wire)
                    wire.owner.machine.disconnected()
                }
            case .append(let batch): append(batch)
            case .readHistory(let question): server.answer(question.number, with: nil, at: 0)
            case .encode(let capture): captures.append(capture)
            case .pauseReading, .resumeReading, .log, .inquire, .sum, .beginSnapshot, .wake,
                .forward, .reply, .confirm:
                break
            }
        }
        return !outputs.isEmpty
    }
}

extension Rig {
    /// The daemon's count at `path`.
    func count(at path: String) throws -> Int64? {
        let node = server.tree.node(at: try SlicePath(path)) as? Node<StockReactors.Counter>
        return node?.state.count
    }
}

extension Rig.Joined {
    /// The number of the node at `path`, once ``Rig/run(rounds:)`` has opened it.
    func open(_ path: String, _ rig: Rig) throws -> NodeID {
        var result: Result<NodeID, ClientError>?
        machine.open(path) { result = $0 }
        rig.run()
        return try #require(try result?.get())
    }

    /// A mirror of the counter at `path`, once it is live.
    func mirror(
        _ path: String, _ rig: Rig
    ) throws -> ReactorClient.Mirror<StockReactors.Counter> {
        var result: Result<ReactorClient.Mirror<StockReactors.Counter>, ClientError>?
        machine.mirror(StockReactors.Counter(), at: path) { result = $0 }
        rig.run()
        return try #require(try result?.get())
    }
}
