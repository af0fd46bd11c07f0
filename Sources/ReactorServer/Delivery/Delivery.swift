import DequeModule
import ReactorBytes
import ReactorCore
import ReactorWire

/// What leaves the server: the replies and outcomes of the current turn, the connections that it has
/// something for, and the way of every turn from its end to the sockets.
///
///     delivery.reply(to: connection) { … }        // while the turn's frames are handled
///     let output = delivery.makeOutput(sequence, deltas, mark)
///     for connection in delivery.listed { … delivery.enqueue(connection, output) … }
///     delivery.seal(effects, batchByteCount)      // the turn has ended
///     delivery.release(start)                     // the journal has it
///
/// No verb handles frames. A connection that has taken enough for the server to read from it again
/// waits in a queue: the server takes it with ``nextReadable()`` and reads on once the verb has
/// returned. Large answers that have left, or will not, wait for ``takeEndedAnswers()``.
///
/// *Place*: every part of the server that answers a client writes to it. ``ReleaseLedger``,
/// ``UpdateQueue`` and the connections' ``Outlet``s state their own invariants; ``invariants()`` states
/// what holds besides.
final class Delivery {
    private let limits: ServerLimits
    private let orders: ShellOrders
    private let ledger: Place<ReleaseLedger>
    private let updates = Place(UpdateQueue())
    /// Answers to requests, of the current turn.
    private let replies = Place(WireWriter(capacity: 4_096))
    /// Outcomes of actions, of the current turn.
    private let outcomes = Place(WireWriter(capacity: 4_096))
    /// Connections from which the server may read on.
    private let readable = Place(Deque<Connection>())
    /// Large answers that a connection is not sent any more.
    private let endedAnswers = Place<[Answer]>([])

    /// Maximum capacity that a turn's buffer keeps for the next turn, in bytes. A single large answer
    /// must not hold its memory for the rest of the run.
    private static let turnBytesKeptMax = 1 << 20

    /// Begins with turn 1.
    init(_ limits: ServerLimits, _ orders: ShellOrders) {
        self.limits = limits
        self.orders = orders
        ledger = Place(ReleaseLedger(byteCountMax: limits.unreleasedBytesMax))
    }

    // MARK: The current turn

    /// Number of the current turn.
    var turn: UInt64 { ledger.value.turn }

    /// The last turn whose batch was handed to the journal.
    var lastKeptTurn: UInt64 { ledger.value.lastKeptTurn }

    /// Connections that the current turn has something for.
    var listed: [Connection] {
        @inline(__always) _read { yield ledger.value.listed }
    }

    /// Whether a connection gets deltas or the mark of the current turn.
    var hasUpdates: Bool {
        ledger.value.listed.contains {
            !$0.subscriptions.isEmpty || $0.outlet.value.hasUpdates
        }
    }

    /// Lists a connection that the current turn has something for, once.
    @inline(__always)
    func list(_ connection: Connection) { ledger.value.list(connection) }

    /// Whether connections wait for updates that the turn had no time for.
    var isSharing: Bool { !updates.value.isEmpty }

    /// Bytes of turns that wait for the journal.
    var unreleasedByteCount: Int { ledger.value.byteCount }

    /// Whether a turn waits for the journal.
    var hasUnreleased: Bool { !ledger.value.isEmpty }

    /// What holds between two verbs; checked in debug builds.
    @inline(__always)
    private func invariants() {
        assert(
            endedAnswers.value.allSatisfy { $0.takerCount > 0 },
            "an answer has ended that no connection was sent")
        assert(
            listed.count > 32 || listed.allSatisfy { ledger.value.isListed($0) },
            "a connection is listed and does not know it")
    }
}

// MARK: - Writing for one connection
extension Delivery {
    /// Appends frames to the turn's replies, for one connection.
    func reply(to connection: Connection, _ write: (inout WireWriter) -> Void) {
        let start = replies.value.count
        write(&replies.value)
        connection.outlet.value.addReply(start..<replies.value.count)
        limitUndrained(connection)
    }

    /// Refuses a request.
    func refuse(_ header: FrameHeader, _ refusal: Refusal, of connection: Connection) {
        var refusal = refusal
        refusal.message = refusal.message.cut(to: limits.messageBytesMax)
        reply(to: connection) { writer in
            let frame = writer.beginFrame(.refused, id: header.id, number: header.number)
            refusal.encode(into: &writer)
            writer.endFrame(at: frame)
        }
    }

    /// Appends a frame about an action to what a connection gets, behind the outcomes before it.
    func send(
        _ kind: FrameKind, of ordinal: UInt64, to connection: Connection,
        _ write: (inout WireWriter) -> Void
    ) {
        writeRun(of: connection)
        let frame = outcomes.value.beginFrame(kind, number: ordinal)
        write(&outcomes.value)
        outcomes.value.endFrame(at: frame)
        connection.outlet.value.addOutcome(frame..<outcomes.value.count, isCounted: true)
        limitUndrained(connection)
    }

    /// Adds a run of plain outcomes, and writes the run before it unless that is continued.
    func add(_ run: AppliedRun, to connection: Connection) {
        if let earlier = connection.outlet.value.addRun(run) { write(earlier, to: connection) }
        list(connection)
    }

    /// Writes the run of plain outcomes that a connection has collected.
    private func writeRun(of connection: Connection) {
        if let run = connection.outlet.value.takeRun() { write(run, to: connection) }
    }

    private func write(_ run: AppliedRun, to connection: Connection) {
        let frame = outcomes.value.beginFrame(
            .applied, id: UInt32(clamping: run.count), number: run.ordinal)
        outcomes.value.unsigned(run.sequence)
        outcomes.value.endFrame(at: frame)
        connection.outlet.value.addOutcome(frame..<outcomes.value.count, isCounted: false)
    }

    /// Writes the closing frame that a connection has yet to be sent, if there is one.
    func writeFarewell(to connection: Connection) {
        guard let closing = connection.takeFarewell() else { return }
        writeRun(of: connection)
        let frame = outcomes.value.beginFrame(.closing)
        closing.encode(into: &outcomes.value)
        outcomes.value.endFrame(at: frame)
        connection.outlet.value.addOutcome(frame..<outcomes.value.count, isCounted: false)
    }

    /// Begins to send a large answer, as an output of the current turn; nothing more is read from the
    /// connection until it has taken the answer.
    func send(
        _ answer: Answer, behind prefix: [UInt8], of number: UInt64, to connection: Connection
    ) {
        connection.outlet.value.send(
            AnswerStream(number, prefix, answer, turn: turn, at: orders.now))
        list(connection)
        pauseReading(connection)
    }
}

// MARK: - Reading less
extension Delivery {
    /// Stops reading from a connection.
    func pauseReading(_ connection: Connection) {
        guard !connection.isLeaving, connection.inlet.value.pause() else { return }
        orders.append(.pauseReading(connection.id))
    }

    /// Lists a connection that got a reply or an outcome, and stops reading from it if it has too
    /// many of them to take.
    private func limitUndrained(_ connection: Connection) {
        if connection.outlet.value.undrainedByteCount > limits.undrainedBytesMax {
            pauseReading(connection)
        }
        list(connection)
    }

    /// Counts actions in flight. Stops reading from a client that has too many of them, and from every
    /// client that sends more while the server is congested.
    func countActions(_ count: Int, byteCount: Int, of connection: Connection) {
        connection.outlet.value.beginActions(count, byteCount: byteCount)
        let inFlight = connection.outlet.value.inFlight
        if inFlight.count > limits.inFlightMax { pauseReading(connection) }
        guard inFlight.byteCount > limits.inFlightBytesMax || ledger.value.isCongested else {
            return
        }
        // Reading goes on behind a turn that has something for the connection, be it nothing.
        list(connection)
        pauseReading(connection)
    }

    /// Actions that a connection may send before it waits for outcomes.
    @inline(__always)
    func window(of connection: Connection) -> Int {
        max(0, limits.inFlightMax - connection.outlet.value.inFlight.count)
    }

    /// Has the server read from no client that sends actions until this is called with false; answers
    /// whether that has ended.
    func holdBack(_ isHeldBack: Bool) -> Bool { ledger.value.holdBack(isHeldBack) && !isHeldBack }

    /// Ends the congestion once the journal has caught up; answers whether the server may read from
    /// all clients again.
    func endCongestion() -> Bool { ledger.value.endCongestion() }

    /// Takes the next connection that has taken something, and which the server may read on from.
    @inline(__always)
    func nextReadable() -> Connection? { readable.value.popFirst() }

    /// Goes on reading from a connection that is paused, if it has taken enough; answers whether what
    /// was held back is to be handled. Never called while a turn is shared out.
    func resumeReading(_ connection: Connection) -> Bool {
        guard connection.inlet.value.state == .paused, !connection.isLeaving,
            connection.outlet.value.isDrained(limits),
            connection.requests.questionCount <= limits.questionsPerConnectionMax / 2,
            !ledger.value.isCongested
        else { return false }
        connection.inlet.value.resume()
        orders.append(.resumeReading(connection.id))
        return true
    }

    private func offerReading(_ connection: Connection) {
        if connection.inlet.value.state == .paused { readable.value.append(connection) }
    }
}

// MARK: - The end of a turn
extension Delivery {
    /// Takes what the turn has for all connections: its deltas, whose range `mark` is the turn's mark,
    /// its replies and its outcomes.
    func makeOutput(_ sequence: UInt64, _ deltas: [UInt8], _ mark: Range<Int>) -> TurnOutput {
        for connection in listed { writeRun(of: connection) }
        let output = TurnOutput(
            number: turn, sequence: sequence, deltas: deltas, mark: mark,
            replies: replies.value.bytes, outcomes: outcomes.value.bytes)
        replies.value.removeAll(keepingAtMost: Self.turnBytesKeptMax)
        outcomes.value.removeAll(keepingAtMost: Self.turnBytesKeptMax)
        return output
    }

    /// Queues what the turn has for a connection; answers whether the connection follows its slices
    /// for the last time: it is leaving and is owed no snapshot.
    func enqueue(_ connection: Connection, _ turn: TurnOutput) -> Bool {
        guard !connection.isClosed else {
            connection.outlet.value.clear()
            return false
        }
        makeRoom(in: connection)
        let place = EnqueuePlace(
            isClosing: connection.isLeaving, isInputEnded: connection.inlet.value.isEnded,
            hasSubscriptions: !connection.subscriptions.isEmpty,
            isUpdateQueueFull: updates.value.isFull, releasedTurn: ledger.value.releasedTurn,
            queueBytesMax: limits.queueBytesMax)
        if connection.outlet.value.enqueue(turn, at: place) {
            orders.stats.conflations &+= 1
            connection.oweSnapshots()
        }
        let isLast = connection.isLeaving && !connection.outlet.value.owesSnapshots
        if connection.inlet.value.isEnded, connection.isAnswered { connection.leave(nil, at: nil) }
        if connection.outlet.value.controlByteCount > limits.undrainedBytesMax {
            pauseReading(connection)
        }
        return isLast
    }

    /// Flushes a connection whose updates exceed the limit only because it waits in the update queue.
    /// Where none of them is released, there would be nothing to write.
    private func makeRoom(in connection: Connection) {
        guard !connection.isLeaving, connection.outlet.value.isListed,
            connection.outlet.value.overflows(queueBytesMax: limits.queueBytesMax),
            connection.outlet.value.hasReleased(upTo: ledger.value.releasedTurn)
        else { return }
        flush(connection)
    }

    /// Ends the current turn and begins the next. `batchByteCount` is nil for a turn without a batch.
    func seal(_ effects: [PendingEffect], batchByteCount: Int?) {
        ledger.value.seal(effects, batchByteCount: batchByteCount)
    }

    /// Lets a turn serve connections that get updates alone.
    func beginUpdates() {
        updates.value.beginTurn()
        invariants()
    }
}

// MARK: - To the sockets
extension Delivery {
    /// Records that the journal holds the batch of turn `number`, and all before it.
    func markAppended(upTo number: UInt64) { ledger.value.markAppended(upTo: number) }

    /// Hands the sockets what may leave, and `start` the effects of the turns that are released.
    func release(_ start: ([PendingEffect]) -> Void) {
        while let released = ledger.value.popReleased() {
            for connection in released.connections {
                if connection.outlet.value.isUrgent(in: released.number) {
                    flush(connection)
                } else {
                    updates.value.list(connection)
                }
            }
            if !released.effects.isEmpty { start(released.effects) }
            ledger.value.recycle(released)
        }
        while let connection = updates.value.next() { flush(connection) }
    }

    /// Records that the socket took all of the last write, and writes what may follow.
    func written(_ connection: Connection) {
        connection.outlet.value.endWrite()
        if connection.isLeaving || !connection.outlet.value.isEmpty
            || connection.outlet.value.hasStreams
        {
            flush(connection)
        }
        offerReading(connection)
    }

    /// Hands the socket what may leave, as one write at a time.
    private func flush(_ connection: Connection) {
        guard !connection.isClosed else { return }
        var ended: [AnswerStream] = []
        let flush = connection.outlet.value.flush(
            upTo: ledger.value.releasedTurn, writeBytesMax: limits.writeBytesMax, at: orders.now,
            ended: &ended)
        for stream in ended { finish(stream, of: connection) }
        switch flush {
        case .busy: return
        case .write(let slices): orders.append(.write(connection.id, slices))
        case .idle: if isDone(connection) { shut(connection) } else { offerReading(connection) }
        }
    }

    /// Whether a closing connection has taken everything, and the current turn has nothing for it.
    private func isDone(_ connection: Connection) -> Bool {
        connection.isLeaving && connection.outlet.value.isEmpty
            && !connection.outlet.value.owesSnapshots && connection.requests.questionCount == 0
            && !ledger.value.isListed(connection)
    }

    /// Orders the socket of a connection to be closed.
    private func shut(_ connection: Connection) {
        connection.close()
        orders.append(.close(connection.id))
    }

    /// Orders the socket of a connection to be closed at once, whatever waits to be written.
    func cut(_ connection: Connection) {
        connection.outlet.value.clear()
        connection.close()
        orders.append(.cut(connection.id))
    }
}

// MARK: - Large answers
extension Delivery {
    /// Ends a large answer that was sent, or is not sent any more.
    private func finish(_ stream: AnswerStream, of connection: Connection) {
        endedAnswers.value.append(stream.answer)
        connection.requests.endQuestion(stream.number)
        // A half-closed connection may have been kept for this answer alone.
        if connection.inlet.value.isEnded { list(connection) }
        invariants()
    }

    /// Stops sending a connection its large answers; answers the requests that they were for.
    func cutAnswers(of connection: Connection) -> [UInt64] {
        var numbers: [UInt64] = []
        while let stream = connection.outlet.value.cutStream() {
            finish(stream, of: connection)
            numbers.append(stream.number)
        }
        return numbers
    }

    /// Drops the questions and large answers of a connection that is about to end, or has.
    func dropAnswers(of connection: Connection) {
        while let stream = connection.outlet.value.cutStream() {
            endedAnswers.value.append(stream.answer)
        }
        connection.requests.dropQuestions()
    }

    /// Takes the large answers that a connection is not sent any more, once for each connection.
    func takeEndedAnswers() -> [Answer] {
        if endedAnswers.value.isEmpty { return [] }
        defer { endedAnswers.value = [] }
        return endedAnswers.value
    }
}

extension Outlet {
    /// Whether the client has taken enough for the server to read from it again.
    func isDrained(_ limits: ServerLimits) -> Bool {
        undrainedByteCount <= limits.undrainedBytesMax / 2 && !hasStreams
            && inFlight.count <= limits.inFlightMax / 2
            && inFlight.byteCount <= limits.inFlightBytesMax / 2
    }
}

extension String {
    /// The text up to a whole character within its first `bytesMax` bytes.
    func cut(to bytesMax: Int) -> String {
        guard utf8.count > bytesMax else { return self }
        var end = utf8.index(startIndex, offsetBy: bytesMax)
        while end > startIndex, end.samePosition(in: unicodeScalars) == nil {
            end = utf8.index(before: end)
        }
        return String(self[..<end])
    }
}
