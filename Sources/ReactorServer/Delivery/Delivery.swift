import DequeModule
import ReactorBytes
import ReactorCore
import ReactorWire

/// The server's output: the replies and outcomes of the current turn, the connections with output,
/// and each turn from its end until its output has left.
///
///     delivery.reply(to: connection) { … }        // while the turn's frames are handled
///     let listed = delivery.takeListed()
///     listed.visit { … delivery.endFrames(of: $0) … }
///     let output = delivery.makeOutput(sequence, deltas, mark)
///     listed.visit { … delivery.enqueue($0, output) … }
///     delivery.seal(listed, effects, batchByteCount)      // the turn has ended
///     delivery.release(start)                     // the journal has it
///
/// No verb handles frames. A connection that has read enough of its output waits in a queue: the
/// server takes it with ``nextReadable()``, and reads from it after the verb has returned. Large
/// answers that have left, or will not, wait for ``takeEndedAnswers()``.
///
/// *Place*: every part of the server that sends to clients writes to it. ``ReleaseLedger``,
/// ``UpdateQueue`` and each ``Outlet`` state their own invariants; ``invariants()`` states the
/// others.
final class Delivery {
    private var limits: ServerLimits
    private let orders: ShellOrders
    private let ledger: Cell<ReleaseLedger>
    private let updates = Cell(UpdateQueue())
    /// Answers to requests, of the current turn.
    private let replies = Cell(WireWriter(capacity: 4_096))
    /// Outcomes of actions, of the current turn.
    private let outcomes = Cell(WireWriter(capacity: 4_096))
    /// The outcomes of the last turn. Its memory is used again once no connection refers to it.
    private let outcomeBytes = Cell<[UInt8]>([])
    /// Connections from which the server may read on.
    private let readable = Cell(Deque<Connection>())
    /// Large answers that the write in progress has completed.
    private let endedStreams = Cell<[AnswerStream]>([])
    /// Large answers that a connection is not sent any more.
    private let endedAnswers = Cell<[Answer]>([])

    /// Maximum capacity of a turn's buffer that is kept for the next turn, in bytes: a single large
    /// answer must not keep its memory for the rest of the run.
    private static let turnBytesKeptMax = 1 << 20
    /// Maximum bytes of a turn's outcomes whose memory is used again.
    private static let outcomeBytesKeptMax = 4 << 10

    /// Starts with turn 1.
    init(_ limits: ServerLimits, _ orders: ShellOrders) {
        self.limits = limits
        self.orders = orders
        ledger = Cell(ReleaseLedger(byteCountMax: limits.unreleasedBytesMax))
    }

    /// Applies other limits from here on.
    func setLimits(_ limits: ServerLimits) {
        self.limits = limits
        ledger.value.limit(byteCountMax: limits.unreleasedBytesMax)
    }

    // MARK: The current turn

    /// Number of the current turn.
    var turn: UInt64 { ledger.value.turn }

    /// The last turn whose batch the journal was given.
    var lastKeptTurn: UInt64 { ledger.value.lastKeptTurn }

    /// The last turn whose output may leave.
    var releasedTurn: UInt64 { ledger.value.releasedTurn }

    /// Whether a connection has output in the current turn.
    var hasListed: Bool { !ledger.value.listed.isEmpty }

    /// Lists a connection with output in the current turn, once.
    @inline(__always)
    func list(_ connection: Connection) { ledger.value.list(connection) }

    /// Whether connections wait for updates that the turn had no time for.
    var isSharing: Bool { !updates.value.isEmpty }

    /// Bytes of turns that wait for the journal.
    var unreleasedByteCount: Int { ledger.value.byteCount }

    /// Whether a turn waits for the journal.
    var hasUnreleased: Bool { !ledger.value.isEmpty }

    /// Whether everything has left for the sockets that may.
    var isSettled: Bool { !hasListed && !hasUnreleased && !isSharing && !hasEndedAnswers }

    /// Checks the invariants, in debug builds.
    @inline(__always)
    private func invariants() {
        assert(
            endedAnswers.value.allSatisfy { $0.takerCount > 0 },
            "an answer has ended that no connection was sent")
        assert(
            ledger.value.listed.count > 32
                || ledger.value.listed.objects.allSatisfy { ledger.value.isListed($0) },
            "a connection is listed and does not know it")
    }
}

// MARK: - Writing for one connection
extension Delivery {
    /// Appends frames for one connection to the turn's replies.
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

    /// Appends a frame about an action to a connection's output, after the earlier outcomes.
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

    /// Adds a run of plain outcomes. Writes the run before it, unless the new one continues that.
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

    /// Writes the closing frame of a connection, unless it was written.
    func writeFarewell(to connection: Connection) {
        guard let closing = connection.takeFarewell() else { return }
        writeRun(of: connection)
        let frame = outcomes.value.beginFrame(.closing)
        closing.encode(into: &outcomes.value)
        outcomes.value.endFrame(at: frame)
        connection.outlet.value.addOutcome(frame..<outcomes.value.count, isCounted: false)
    }

    /// Begins to send a large answer, as output of the current turn. The server reads nothing more
    /// from the connection until its client has read the answer.
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

    /// Lists a connection with a reply or an outcome. Stops reading from it if its client has too
    /// many of them to read.
    private func limitUndrained(_ connection: Connection) {
        if connection.outlet.value.undrainedByteCount > limits.undrainedBytesMax {
            pauseReading(connection)
        }
        list(connection)
    }

    /// Counts actions in flight. Stops reading from a client that has too many of them and, while
    /// the server is congested, from every client that sends more.
    func countActions(_ count: Int, byteCount: Int, of connection: Connection) {
        connection.outlet.value.beginActions(count, byteCount: byteCount)
        let inFlight = connection.outlet.value.inFlight
        if inFlight.count > limits.inFlightMax { pauseReading(connection) }
        guard inFlight.byteCount > limits.inFlightBytesMax || ledger.value.isCongested else {
            return
        }
        // Reading continues after a turn that lists the connection, even if the turn has no output
        // for it.
        list(connection)
        pauseReading(connection)
    }

    /// Number of actions that the connection may send before the server waits for outcomes.
    @inline(__always)
    func window(of connection: Connection) -> Int {
        max(0, limits.inFlightMax - connection.outlet.value.inFlight.count)
    }

    /// Makes the server read from no client that sends actions, until this is called with false.
    /// Returns true if the call ends that.
    func holdBack(_ isHeldBack: Bool) -> Bool { ledger.value.holdBack(isHeldBack) && !isHeldBack }

    /// Ends the congestion once the journal has caught up. Returns whether it did: the server may
    /// read from all clients again.
    func endCongestion() -> Bool { ledger.value.endCongestion() }

    /// Takes the next connection that the server may read from again.
    @inline(__always)
    func nextReadable() -> Connection? { readable.value.popFirst() }

    /// Resumes a paused connection if its client has read enough. Returns whether held-back input
    /// is to be handled. Never called while the output of a turn is being distributed.
    func resumeReading(_ connection: Connection) -> Bool {
        guard connection.inlet.value.state == .paused, !connection.isLeaving,
            isDrained(connection),
            connection.requests.questionCount <= limits.questionsPerConnectionMax / 2,
            !ledger.value.isCongested
        else { return false }
        connection.inlet.value.resume()
        orders.append(.resumeReading(connection.id))
        return true
    }

    /// Whether the client has read enough of its output for the server to read from it again.
    private func isDrained(_ connection: Connection) -> Bool {
        connection.outlet.value.undrainedByteCount <= limits.undrainedBytesMax / 2
            && !connection.outlet.value.hasStreams
            && connection.outlet.value.inFlight.count <= limits.inFlightMax / 2
            && connection.outlet.value.inFlight.byteCount <= limits.inFlightBytesMax / 2
            && connection.owed.count <= limits.inFlightMax / 2
            && connection.owed.byteCount <= limits.inFlightBytesMax / 2
    }

    private func offerReading(_ connection: Connection) {
        if connection.inlet.value.state == .paused { readable.value.append(connection) }
    }
}

// MARK: - The end of a turn
extension Delivery {
    /// Takes the connections with output in the turn; none is listed after that.
    func takeListed() -> ReferenceList<Connection> { ledger.value.takeListed() }

    /// Writes the last frame of a connection's turn, if it is not written. Returns whether the
    /// connection gets deltas or the mark of the turn.
    func endFrames(of connection: Connection) -> Bool {
        writeRun(of: connection)
        return !connection.subscriptions.isEmpty || connection.outlet.value.hasUpdates
    }

    /// Takes the output of the turn: its deltas, in which the range `mark` is the turn's mark, its
    /// replies and its outcomes.
    func makeOutput(_ sequence: UInt64, _ deltas: [UInt8], _ mark: Range<Int>) -> TurnOutput {
        let output = TurnOutput(
            number: turn, sequence: sequence, deltas: deltas, mark: mark,
            replies: replies.value.bytes, outcomes: takeOutcomes())
        replies.value.removeAll(keepingAtMost: Self.turnBytesKeptMax)
        outcomes.value.removeAll(keepingAtMost: Self.turnBytesKeptMax)
        return output
    }

    /// The bytes of the turn's outcomes.
    private func takeOutcomes() -> [UInt8] {
        let byteCount = outcomes.value.count
        guard byteCount > 0 else { return [] }
        guard byteCount <= Self.outcomeBytesKeptMax else { return outcomes.value.bytes }
        outcomes.value.copy(into: &outcomeBytes.value)
        return outcomeBytes.value
    }

    /// Queues the turn's output for a connection. Returns whether its subscriptions end with this
    /// turn: it is closing and needs no snapshot.
    func enqueue(_ connection: Connection, _ turn: borrowing TurnOutput) -> Bool {
        guard !connection.isClosed else {
            connection.outlet.value.clear()
            return false
        }
        makeRoom(in: connection)
        let status = ConnectionStatus(
            isClosing: connection.isLeaving, isInputEnded: connection.inlet.value.isEnded,
            hasSubscriptions: !connection.subscriptions.isEmpty,
            isUpdateQueueFull: updates.value.isFull, releasedTurn: ledger.value.releasedTurn,
            queueBytesMax: limits.queueBytesMax)
        if connection.outlet.value.enqueue(turn, given: status) {
            orders.stats.conflations &+= 1
            connection.requireSnapshots()
        }
        let isLast = connection.isLeaving && !connection.outlet.value.owesSnapshots
        if connection.inlet.value.isEnded, connection.isAnswered { connection.leave(nil, at: nil) }
        if connection.outlet.value.controlByteCount > limits.undrainedBytesMax {
            pauseReading(connection)
        }
        return isLast
    }

    /// Writes the updates of a connection that exceed the limit only because it waits in the update
    /// queue. If none of them is released, there is nothing to write.
    private func makeRoom(in connection: Connection) {
        guard !connection.isLeaving, connection.outlet.value.isListed,
            connection.outlet.value.overflows(queueBytesMax: limits.queueBytesMax),
            connection.outlet.value.hasReleased(upTo: ledger.value.releasedTurn)
        else { return }
        flush(connection)
    }

    /// Ends the current turn, in which `connections` have output, and begins the next.
    /// `batchByteCount` is nil for a turn without a batch.
    func seal(
        _ connections: consuming ReferenceList<Connection>, _ effects: [PendingEffect],
        batchByteCount: Int?
    ) {
        ledger.value.seal(connections, effects, batchByteCount: batchByteCount)
    }

    /// Allows a turn its share of connections with only updates.
    func beginUpdates() {
        updates.value.beginTurn()
        invariants()
    }
}

// MARK: - To the sockets
extension Delivery {
    /// Records that the journal has the batches of all turns up to `number`.
    func markAppended(upTo number: UInt64) { ledger.value.markAppended(upTo: number) }

    /// Sends released output to the sockets, and passes the effects of released turns to `start`.
    @inline(__always)
    func release(_ start: ([PendingEffect]) -> Void) {
        while let released = ledger.value.popReleased() {
            let number = released.number
            released.connections.visit { connection in
                if connection.outlet.value.isUrgent(in: number) {
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

    /// Sends released output to the socket, one write at a time.
    private func flush(_ connection: Connection) {
        guard !connection.isClosed else { return }
        let flush = connection.outlet.value.flush(
            upTo: ledger.value.releasedTurn, writeBytesMax: limits.writeBytesMax, at: orders.now,
            ended: &endedStreams.value)
        if !endedStreams.value.isEmpty { finishStreams(of: connection) }
        switch consume flush {
        case .busy: return
        case .write where connection.isRemote:
            connection.outlet.value.endWrite()
            self.flush(connection)
        case .write(let slices): orders.append(.write(connection.id, slices))
        case .idle: if isDone(connection) { shut(connection) } else { offerReading(connection) }
        }
    }

    /// Whether a closing connection has no output left, in the queue or in the current turn.
    private func isDone(_ connection: Connection) -> Bool {
        connection.isLeaving && connection.outlet.value.isEmpty
            && !connection.outlet.value.owesSnapshots && connection.requests.questionCount == 0
            && !ledger.value.isListed(connection)
    }

    /// Orders the shell to close a connection's socket.
    private func shut(_ connection: Connection) {
        connection.close()
        orders.append(.close(connection.id))
    }

    /// Has the daemon of a remote connection close it.
    func endRemote(_ connection: Connection, _ closing: Closing) {
        connection.outlet.value.clear()
        connection.close()
        orders.append(
            .reply(
                connection.id.node,
                .ended(
                    connection: connection.id.rawValue, code: closing.code.rawValue,
                    message: closing.message)))
    }

    /// Orders the shell to write a last frame and to close a connection's socket, without its
    /// waiting output. The frame says nothing of any turn, so that it waits for none. A client that
    /// has not read the last write does not get it.
    func end(_ connection: Connection, _ closing: Closing) {
        if connection.isRemote { return endRemote(connection, closing) }
        connection.outlet.value.clear()
        guard !connection.outlet.value.isWriting else { return shut(connection) }
        var writer = WireWriter()
        let frame = writer.beginFrame(.closing)
        closing.encode(into: &writer)
        writer.endFrame(at: frame)
        orders.append(.write(connection.id, ByteSlices(ByteSlice(writer.bytes))))
        shut(connection)
    }

    /// Orders the shell to close a connection's socket at once, without its waiting output.
    func cut(_ connection: Connection) {
        connection.outlet.value.clear()
        connection.close()
        orders.append(.cut(connection.id))
    }
}

// MARK: - Large answers
extension Delivery {
    /// Ends the large answers that the last write has completed.
    private func finishStreams(of connection: Connection) {
        let ended = endedStreams.value
        endedStreams.value = []
        for stream in ended { finish(stream, of: connection) }
    }

    /// Ends a large answer that was sent, or of which nothing more is sent.
    private func finish(_ stream: AnswerStream, of connection: Connection) {
        endedAnswers.value.append(stream.answer)
        connection.requests.endQuestion(stream.number)
        // A half-closed connection may be open only for this answer.
        if connection.inlet.value.isEnded { list(connection) }
        invariants()
    }

    /// Stops sending a connection its large answers. Returns the numbers of their requests.
    func cutAnswers(of connection: Connection) -> [UInt64] {
        var numbers: [UInt64] = []
        while let stream = connection.outlet.value.cutStream() {
            finish(stream, of: connection)
            numbers.append(stream.number)
        }
        return numbers
    }

    /// Drops the requests and large answers of a connection that ends.
    func dropAnswers(of connection: Connection) {
        while let stream = connection.outlet.value.cutStream() {
            endedAnswers.value.append(stream.answer)
        }
        connection.requests.dropQuestions()
    }

    /// Whether ``takeEndedAnswers()`` returns any.
    var hasEndedAnswers: Bool { !endedAnswers.value.isEmpty }

    /// Takes the large answers that a connection does not get any more of, once for each
    /// connection.
    func takeEndedAnswers() -> [Answer] {
        defer { endedAnswers.value = [] }
        return endedAnswers.value
    }
}

extension String {
    /// The longest prefix of whole characters that fits into `bytesMax` bytes.
    package func cut(to bytesMax: Int) -> String {
        guard utf8.count > bytesMax else { return self }
        var end = utf8.index(startIndex, offsetBy: bytesMax)
        while end > startIndex, end.samePosition(in: unicodeScalars) == nil {
            end = utf8.index(before: end)
        }
        return String(self[..<end])
    }
}
