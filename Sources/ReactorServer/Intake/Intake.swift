import ReactorBytes
import ReactorCore
import ReactorWire

/// Handles the input: finds the frames in a connection's bytes, passes each to the part of the
/// server for its kind, and closes connections that break the protocol.
///
///     intake.receive(connection, bytes)
///     intake.readOn()                     // held-back input of clients that have read enough
///
/// No handler of a frame reads further input. Connections that may be read again wait in the queue
/// of ``Delivery``; ``readOn()`` empties it while no frame is being handled.
///
/// *Place*: between the shell's bytes and the parts of the server. *Shape*: a connection that has
/// sent its share of a turn is in the ``RestQueue``, which is the only state and states its
/// invariants.
final class Intake {
    private var limits: ServerLimits
    private let orders: ShellOrders
    private let peers: PeerAdmission
    private let delivery: Delivery
    private let dispatcher: Dispatcher
    private let openNodes: OpenNodes
    private let subscriptions: Subscriptions
    private let answers: AnswerService
    let handshake: Handshake
    /// Keeps users to the rules of the configuration.
    let quotas: UserQuotas
    /// Whether no input is handled, since another process may take over.
    private(set) var isHeld = false
    /// Connections that have had their share of a turn.
    private let rests = Cell(RestQueue())
    /// Measures the time that users take.
    let time: InputTime
    /// Measures the bytes of users that wait for the journal.
    let backlog: UserBacklog

    init(
        _ limits: ServerLimits, _ orders: ShellOrders, _ peers: PeerAdmission,
        _ delivery: Delivery, _ dispatcher: Dispatcher, _ openNodes: OpenNodes,
        _ subscriptions: Subscriptions, _ answers: AnswerService, _ handshake: Handshake,
        _ quotas: UserQuotas, _ time: InputTime, _ backlog: UserBacklog
    ) {
        self.limits = limits
        self.orders = orders
        self.peers = peers
        self.delivery = delivery
        self.dispatcher = dispatcher
        self.openNodes = openNodes
        self.subscriptions = subscriptions
        self.answers = answers
        self.handshake = handshake
        self.quotas = quotas
        self.time = time
        self.backlog = backlog
    }

    /// Applies other limits from here on, also to the parts that handle the frames.
    func setLimits(_ limits: ServerLimits) {
        self.limits = limits
        peers.setLimits(limits)
        delivery.setLimits(limits)
        dispatcher.setLimits(limits)
        dispatcher.forwarder.setLimits(limits)
        openNodes.setLimits(limits)
        subscriptions.setLimits(limits)
        answers.setLimits(limits)
        handshake.setLimits(limits)
        time.setLimits(limits)
        backlog.setLimits(limits)
    }

    /// Number of ended turns, including those without output.
    var endedTurns: UInt64 { rests.value.endedTurns }

    /// Whether a connection has sent its share since the last turn ended.
    var hasSpent: Bool { rests.value.hasSpent }

    /// Whether resting connections are read at the end of the current turn.
    var hasRested: Bool { rests.value.hasRested }

    /// Leaves all held-back input where it is until this is called with false. The caller then reads
    /// on from every connection.
    func holdInput(_ isHeld: Bool) { self.isHeld = isHeld }

    /// Ends a turn: handles the input of connections that have rested for a turn.
    func endTurn() {
        if let due = rests.value.endTurn() { for connection in due { readOn(connection) } }
        dispatcher.forwarder.flush()
        rests.value.beginTurn()
        time.beginTurn()
    }

    /// Handles the waiting input of users whose bytes the journal now has.
    func readOnReleased() {
        guard !backlog.isEmpty else { return }
        let restEnd = backlog.release(upTo: delivery.releasedTurn, at: orders.now)
        if let restEnd { orders.append(.wake(at: restEnd)) }
        readOnReady()
    }

    /// Reads nothing from users that write most, if clients of several users are connected, or else
    /// from no client that sends actions; with `none`, reads from all again. Returns whether the
    /// congestion of all may end.
    func holdBack(_ writers: HeldWriters) -> Bool {
        let holdsHeavy = writers == .heaviest && peers.hasSeveralUsers
        let isOver = delivery.holdBack(writers != .none && !holdsHeavy)
        if backlog.holdHeavy(holdsHeavy) { readOnReady() }
        return isOver
    }

    /// Handles the waiting input of users that need not wait any longer.
    func readOnReady() {
        while let connection = backlog.takeReady(at: orders.now) { readOn(connection) }
    }
}

// MARK: - Several users
extension Intake {
    /// Begins to handle input of a connection while clients of several users are connected. Returns
    /// false if its user has used its share; the connection waits then.
    private func begin(_ connection: Connection) -> Bool {
        guard !mustWait(connection) else {
            delivery.pauseReading(connection)
            return false
        }
        guard time.begin(connection.peer, isGreeting: connection.isGreeting) else {
            rest(connection, wasHandled: false)
            return false
        }
        backlog.begin(connection.peer)
        return true
    }

    /// Ends what ``begin(_:)`` began, if it began anything.
    @inline(__always)
    private func end() {
        guard backlog.isMeasuring else { return }
        time.end()
        backlog.end(in: delivery.turn, at: orders.now)
    }

    /// Processes the consecutive plain actions from `first` on, those of a measured user as long as
    /// it may add bytes. An action that is cut there is left to the general path.
    @inline(__always)
    private func dispatchRun(
        _ bytes: Span<UInt8>, from first: Int, of connection: Connection
    ) -> Int {
        guard backlog.isMeasuring, backlog.room < bytes.count - first else {
            return dispatcher.dispatchRun(bytes, from: first, of: connection)
        }
        let end = first + backlog.room
        return dispatcher.dispatchRun(bytes.extracting(0..<end), from: first, of: connection)
    }

    /// Whether the input in progress has used the share of its user; the connection waits then.
    private func isSpent(by connection: Connection) -> Bool {
        if backlog.isSpent {
            keepWaiting(connection)
            delivery.pauseReading(connection)
            return true
        }
        guard time.isSpent else { return false }
        rest(connection, wasHandled: true)
        return true
    }

    /// Whether a connection waits: its user has too many bytes before the journal. A connection
    /// that is greeting does not wait, so that it does not count as silent.
    private func mustWait(_ connection: Connection) -> Bool {
        guard peers.hasSeveralUsers, !connection.isGreeting,
            backlog.isFull(connection.peer, at: orders.now)
        else { return false }
        keepWaiting(connection)
        return true
    }

    private func keepWaiting(_ connection: Connection) {
        if backlog.keepWaiting(connection) { orders.stats.backlogPauses &+= 1 }
    }

    /// Has a connection wait for the next turn, as its user has used its time in this one; with
    /// `wasHandled`, after those of its connections that had no input handled.
    private func rest(_ connection: Connection, wasHandled: Bool) {
        orders.stats.turnTimePauses &+= 1
        let wasReading =
            wasHandled ? rests.value.list(connection) : rests.value.postpone(connection)
        if wasReading { orders.append(.pauseReading(connection.id)) }
    }
}

// MARK: - From bytes to frames
extension Intake {
    /// Handles the complete frames in the bytes, and keeps the rest.
    ///
    /// *Owner*: `bytes` is valid during the call; the bytes of an incomplete frame are copied.
    func receive(_ connection: Connection, _ bytes: Span<UInt8>) {
        let now = orders.now
        guard connection.isRead else { return connection.inlet.value.hold(bytes, at: now) }
        guard !peers.hasSeveralUsers || begin(connection) else {
            return connection.inlet.value.hold(bytes, at: now)
        }
        defer { end() }
        var start = 0
        while !connection.inlet.value.isEmpty, start < bytes.count, connection.isRead {
            start = connection.inlet.value.complete(from: bytes, at: start)
            guard connection.inlet.value.isReady else { return }
            read(connection.inlet.value.take(), of: connection)
        }
        let progress =
            connection.isRead
            ? consume(bytes, from: start, of: connection) : FrameProgress(end: start)
        if !connection.isLeaving { connection.inlet.value.keep(bytes, after: progress, at: now) }
    }

    /// Handles a frame that the connection has sent and that was not carried out elsewhere.
    func receiveAgain(_ frame: [UInt8], of connection: Connection) {
        guard !connection.isLeaving,
            let header = try? FrameHeader.decode(
                frame.span, at: 0, frameBytesMax: limits.frameBytesMax)
        else { return }
        let body = frame.span.extracting(FrameHeader.byteCount..<frame.count)
        if header.kind == FrameKind.batch.rawValue {
            _ = dispatcher.dispatchBatch(header, body, of: connection)
        } else {
            _ = dispatcher.dispatch(header, body, of: connection)
        }
    }

    /// Handles the held-back input of connections whose clients have read enough.
    func readOn() {
        while let connection = delivery.nextReadable() { readOn(connection) }
    }

    /// Handles the held-back input of a connection whose client has read enough.
    func readOn(_ connection: Connection) {
        guard !isHeld, !mustWait(connection), delivery.resumeReading(connection) else { return }
        guard !peers.hasSeveralUsers || begin(connection) else { return }
        defer { end() }
        read(connection.inlet.value.takeHeldBack(at: orders.now), of: connection)
        if connection.inlet.value.isEnded { delivery.list(connection) }
    }

    private func read(_ held: consuming HeldBytes, of connection: Connection) {
        let progress = consume(held, of: connection)
        if !connection.isLeaving {
            connection.inlet.value.restore(held, after: progress, at: orders.now)
        }
    }

    private func consume(
        _ held: borrowing HeldBytes, of connection: Connection
    ) -> FrameProgress {
        consume(held.bytes.span, from: held.start, of: connection)
    }

    /// Handles the complete frames from `first` on.
    private func consume(
        _ bytes: Span<UInt8>, from first: Int, of connection: Connection
    ) -> FrameProgress {
        var offset = first
        do throws(FrameError) {
            while connection.isRead {
                offset = dispatchRun(bytes, from: offset, of: connection)
                // After a run, the client may have to read its outcomes first.
                guard connection.isRead else { return FrameProgress(end: offset) }
                if backlog.isMeasuring, offset != first, isSpent(by: connection) {
                    return FrameProgress(end: offset)
                }
                guard
                    let header = try FrameHeader.decode(
                        bytes, at: offset, frameBytesMax: limits.frameBytesMax)
                else {
                    if connection.isGreeting { try FirstBytes.expectClient(bytes, at: offset) }
                    let needed =
                        connection.isGreeting
                        ? FirstBytes.countNeeded(bytes.count &- offset) : FrameHeader.byteCount
                    return FrameProgress(end: offset, needed: needed)
                }
                let start = offset &+ FrameHeader.byteCount
                if connection.isGreeting {
                    try expectHello(header, at: offset, of: connection)
                }
                let end = start &+ Int(header.length)
                guard end <= bytes.count, !connection.isLeaving else {
                    return FrameProgress(end: offset, needed: end &- offset)
                }
                try handle(header, bytes.extracting(start..<end), at: offset, of: connection)
                connection.inlet.value.advance(end &- offset)
                offset = end
            }
        } catch {
            let told = FrameError(
                error.condition, at: Int(clamping: connection.inlet.value.usedByteCount))
            fail(connection, .framing, told.description)
        }
        return FrameProgress(end: offset)
    }

    private func expectHello(
        _ header: FrameHeader, at offset: Int, of connection: Connection
    ) throws(FrameError) {
        if header.kind == FrameKind.hello.rawValue, header.number == Hello.magic { return }
        if FrameKind.isIgnorable(header.kind), header.flags.isEmpty { return }
        guard header.kind != FrameKind.hello.rawValue, FrameKind.isOfClient(header.kind) else {
            throw FrameError(.unknownKind(header.kind), at: offset)
        }
        fail(connection, .state, "frame of kind \(header.kind) before hello")
    }
}

// MARK: - Frames
extension Intake {
    private func handle(
        _ header: FrameHeader, _ body: Span<UInt8>, at offset: Int, of connection: Connection
    ) throws(FrameError) {
        // Nearly every frame is an action.
        if header.kind == FrameKind.dispatch.rawValue,
            header.flags.isSubset(of: [.options, .awaited])
        {
            let frameCount = dispatcher.dispatch(header, body, of: connection)
            return countFrames(frameCount, of: connection)
        }
        countFrames(1, of: connection)
        guard let kind = FrameKind(rawValue: header.kind), FrameKind.isOfClient(header.kind) else {
            guard FrameKind.isIgnorable(header.kind) else {
                throw FrameError(.unknownKind(header.kind), at: offset)
            }
            orders.stats.framesIgnored &+= 1
            return
        }
        guard header.flags.isSubset(of: kind == .batch ? [.options, .awaited] : []) else {
            throw FrameError(.reservedBits, at: offset)
        }
        guard header.length == 0 || kind.hasBody else {
            return fail(
                connection, .framing, "\(kind) with a body of \(header.length) bytes, expected none"
            )
        }
        switch kind {
        case .hello: greet(body, of: connection)
        case .goodbye:
            dispatcher.forwarder.flush()
            handshake.sayGoodbye(connection)
            dispatcher.forwarder.abandonOwed(of: connection, isGoodbye: true)
            beginClosing(connection)
        case .open: openNodes.open(header, body, of: connection)
        case .batch:
            countFrames(dispatcher.dispatchBatch(header, body, of: connection), of: connection)
        case .subscribe: subscriptions.subscribe(header, body, of: connection)
        case .unsubscribe: subscriptions.unsubscribe(header.id, of: connection)
        case .confirm: connection.session?.confirm(header.number)
        case .ask: answers.ask(header, body, of: connection)
        case .ping:
            delivery.reply(to: connection) { writer in
                writer.header(FrameHeader(kind: .pong, number: header.number))
            }
        default: preconditionFailure("\(kind) is not a client's frame")
        }
    }

    private func greet(_ body: Span<UInt8>, of connection: Connection) {
        switch handshake.greet(body, of: connection) {
        case .welcomed:
            peers.hear(connection)
            quotas.join(connection)
        case .failed(let code, let message): fail(connection, code, message)
        case .otherVersion(let message):
            fail(
                connection, .version, message,
                Closing(
                    .version, message, versionMin: Hello.version, versionMax: Hello.version))
        }
    }

    /// Counts frames that are no new actions; a connection that has sent its share of the turn
    /// rests. Such a frame costs the peer almost nothing, and may have no answer that slows the
    /// peer down.
    private func countFrames(_ count: Int, of connection: Connection) {
        for _ in 0..<count {
            guard
                connection.inlet.value.countFrame(
                    in: rests.value.endedTurns, framesMax: limits.framesPerTurnMax),
                !connection.isLeaving
            else { continue }
            if rests.value.list(connection) { orders.append(.pauseReading(connection.id)) }
        }
    }
}

extension FrameKind {
    fileprivate var hasBody: Bool {
        switch self {
        case .goodbye, .unsubscribe, .confirm, .ping: false
        default: true
        }
    }
}

// MARK: - Closing
extension Intake {
    /// Refuses a new connection. Beyond `handshakesMax` clients that wait for their reason, it is
    /// closed at once, which bounds the number of sockets.
    func turnAway(
        _ id: ConnectionID, _ peer: Peer, _ refusal: (FaultCode, String, RefusalReason),
        _ connections: ConnectionTable
    ) {
        let (code, reason, label) = refusal
        orders.stats.countRefusal(label)
        orders.report(peer, code) { .turnedAway(peer, reason, leftOut: $0) }
        // More are admitted than the limit allows after it was lowered.
        let admittedMax = max(limits.connectionsMax, peers.admittedCount)
        guard connections.count < admittedMax + limits.handshakesMax else {
            return orders.append(.close(id))
        }
        let connection = Connection(id: id, peer: peer, .turnedAway)
        connections.insert(connection)
        end(connection, Closing(code, reason))
    }

    /// Sends a client the reason why the server ends, and closes the connection once the client has
    /// all its outcomes. Clients of other daemons stay with these.
    func drain(_ connection: Connection) {
        guard !connection.isRemote else { return }
        // A client that closed its half had unlimited time until now.
        connection.limitLeave(at: orders.now)
        close(connection, Closing(.draining, "the daemon is shutting down"))
    }

    /// Sends a client the reason why its connection ends, and closes the connection once that is
    /// written.
    func fail(_ connection: Connection, _ code: FaultCode, _ message: String) {
        let message = message.cut(to: limits.messageBytesMax)
        fail(
            connection, code, message,
            Closing(code, message, offset: connection.inlet.value.usedByteCount))
    }

    /// Closes the oldest connections without a hello, if there are too many. It spares a connection
    /// whose socket was not read since it was accepted: its hello may have arrived.
    func makeRoomForSpeakers(among connections: ConnectionTable) {
        let endedTurns = endedTurns
        while let id = peers.takeExcess({ connections[$0]?.wasRead(endedTurns) ?? true }) {
            guard let connection = connections[id] else { continue }
            let reason =
                "handshakesMax \(limits.handshakesMax) reached: the oldest connection without a hello "
                + "makes room"
            orders.stats.countRefusal(.handshakesMax)
            orders.report(connection.peer, .busy) {
                .turnedAway(connection.peer, reason, leftOut: $0)
            }
            close(connection, Closing(.busy, reason))
        }
    }

    private func fail(
        _ connection: Connection, _ code: FaultCode, _ message: String, _ closing: Closing
    ) {
        guard !connection.isLeaving else { return }
        orders.stats.countFault(code)
        orders.report(connection.peer, code) {
            .closedForFault(connection.id, connection.peer, code, message, leftOut: $0)
        }
        close(connection, closing)
    }

    /// Sends a closing frame after everything else, and closes the socket after it. Snapshots that
    /// replace dropped updates come before it: a client that keeps reading gets the last mark.
    func close(_ connection: Connection, _ closing: Closing) {
        guard !connection.isLeaving else { return }
        if connection.isRemote { return end(connection, closing) }
        delivery.dropAnswers(of: connection)
        answers.releaseEnded()
        beginClosing(connection, closing)
        if !connection.outlet.value.owesSnapshots { delivery.writeFarewell(to: connection) }
    }

    /// Closes a connection at once, after this reason: what waits for the journal is not sent.
    func end(_ connection: Connection, _ closing: Closing) {
        guard !connection.isClosed else { return }
        delivery.dropAnswers(of: connection)
        answers.releaseEnded()
        connection.inlet.value.clear()
        peers.hear(connection)
        delivery.end(connection, closing)
    }

    /// Stops reading from a connection, and closes it after its remaining output.
    private func beginClosing(_ connection: Connection, _ farewell: Closing? = nil) {
        connection.leave(farewell, at: orders.now)
        connection.inlet.value.clear()
        peers.hear(connection)
        delivery.list(connection)
    }
}
