import ReactorCore
import ReactorLoop
import ReactorThreads

@testable import ReactorServer

/// What of a live server lives on its own thread.
final class LiveServerCore {
    let loop: EventLoop
    let server: Server
    /// Whether turns with changes put nothing out.
    var isHolding = false
    private let listener: Listener
    private let inbox: Mailbox<@Sendable (Tree) -> Void>
    private var links: [ConnectionID: ReactorLoop.Connection] = [:]
    private var lastLink: UInt64 = 0
    /// Connections accepted, in all, in the turn at hand, and in the turn with the most.
    private(set) var accepts = (all: 0, now: 0, most: 0)
    private var held: [UInt64] = []
    private var waiters: [(condition: (LiveServerCore) -> Bool, then: () -> Void)] = []

    init(
        _ root: some Reactor, _ epoch: UInt64, _ limits: ServerLimits, at path: String
    ) throws {
        loop = try EventLoop()
        inbox = Mailbox(ring: { [handle = loop.handle] in handle.post {} })
        let environment = TreeEnvironment(post: { [inbox] in inbox.post($0) })
        var secret = epoch
        server = Server(
            Tree(root, epoch: epoch, environment: environment), limits: limits, daemonName: "live"
        ) {
            secret += 1
            return secret
        }
        listener = try Listener(at: UnixAddress(path), on: loop)
        listener.onAccept = { [unowned self] in accept($0) }
        loop.onTurnEnd = { [unowned self] in endTurn() }
        listener.resumeAccepting()
    }

    /// How many slices each connection follows.
    var subscriptionCounts: [Int] {
        server.connections.sorted { $0.key.rawValue < $1.key.rawValue }
            .map(\.value.subscriptions.count)
    }

    /// Actions received for the first time.
    var actionCount: UInt64 { server.statistics.actions }

    /// Actions received again.
    var repeatCount: UInt64 { server.statistics.repeats }

    var connectionCount: Int { server.connectionCount }

    /// Calls `then` at the end of the first turn after which `condition` holds.
    func wait(for condition: @escaping (LiveServerCore) -> Bool, then: @escaping () -> Void) {
        waiters.append((condition, then))
    }

    func release() {
        isHolding = false
        let turns = held
        held = []
        for turn in turns { server.appended(turn, at: loop.now) }
    }

    func cut() { for link in links.values { link.close() } }

    private func accept(_ link: ReactorLoop.Connection) {
        lastLink += 1
        accepts.all += 1
        accepts.now += 1
        let id = ConnectionID(lastLink)
        links[id] = link
        server.connect(
            id, Peer(uid: link.peer.uid, gid: link.peer.gid, pid: link.peer.pid), at: loop.now)
        link.onBytes = { [unowned self] bytes in server.receive(id, bytes, at: loop.now) }
        link.onEnd = { [unowned self] in server.endInput(id) }
        link.onWritten = { [unowned self] in server.written(id, at: loop.now) }
        link.onClosed = { [unowned self] _ in
            links[id] = nil
            server.disconnect(id, at: loop.now)
        }
        link.resumeReading()
    }

    private func endTurn() {
        accepts.most = max(accepts.most, accepts.now)
        accepts.now = 0
        for job in inbox.drain() { server.perform(job) }
        repeat {
            server.endTurn(at: loop.now)
            carryOut()
        } while server.needsTurn
        let all = waiters
        waiters = []
        for waiter in all {
            if waiter.condition(self) { waiter.then() } else { waiters.append(waiter) }
        }
    }

    private func carryOut() {
        while true {
            let outputs = server.takeOutputs()
            if outputs.isEmpty { return }
            for output in outputs { carryOut(output) }
        }
    }

    private func carryOut(_ output: ServerOutput) {
        switch output {
        case .write(let id, let slices):
            guard let link = links[id] else { return }
            link.write(slices)
            if !link.isWriting, !link.isClosed { server.written(id, at: loop.now) }
        case .pauseReading(let id): links[id]?.pauseReading()
        case .resumeReading(let id): links[id]?.resumeReading()
        case .close(let id): links[id]?.finish()
        case .append(let batch):
            if isHolding {
                held.append(batch.turn)
            } else {
                server.appended(batch.turn, at: loop.now)
            }
        case .log: break
        }
    }
}
