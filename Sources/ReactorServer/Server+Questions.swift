public import ReactorCore
import ReactorWire

// MARK: - Questions that wait
extension Server {
    /// Whether a turn would answer a question, or begin to.
    var isQuestionDue: Bool {
        questions.isActive
            && (questions.finished != nil || questions.hasSoon
                || questions.running == nil && questions.hasLate
                    && answers.busyByteCount < limits.answersBytesMax)
    }

    /// Answers what fits the turn's share, as of the turn's mark, and has the next large answer
    /// encoded off the loop.
    func answerQuestions() {
        deliver()
        while let taken = questions.popSoon() {
            let (name, askers) = (taken.name, taken.askers)
            guard let place = locate(name, for: askers) else { continue }
            if reuse(name, of: place.node, for: askers) { continue }
            let byteCount = byteEstimate(of: name, place.node)
            if byteCount > turnShareMax {
                questions.postpone(taken)
            } else if turnShare <= 0 || byteCount > turnShare {
                questions.restoreSoon(taken)
                break
            } else {
                share(encode(name, place), of: name, place.node, among: askers)
            }
        }
        if questions.running == nil { beginEncoding() }
    }

    /// The encoding that ``ServerOutput/encode(_:)`` ordered is made.
    public func encoded(_ encoding: SliceEncoding) { questions.finished = encoding }

    private func deliver() {
        guard let encoding = questions.finished, let running = questions.running else { return }
        questions.finished = nil
        questions.running = nil
        questions.learn(
            encoding, of: running.name, running.state, grownBytes: running.grownBytes)
        share(encoding, of: running.name, running.state, among: running.askers)
    }

    private func beginEncoding() {
        while let taken = questions.popLate() {
            let (name, askers) = (taken.name, taken.askers)
            guard let place = locate(name, for: askers) else { continue }
            if reuse(name, of: place.node, for: askers) { continue }
            if answers.byteCount >= limits.answersBytesMax { answers.dropIdle() }
            guard answers.byteCount < limits.answersBytesMax else {
                return questions.restoreLate(taken)
            }
            questions.running = QuestionTable.Running(
                name: name, state: SliceState(of: place.node, at: tree.turn.sequence),
                askers: askers, grownBytes: questions.grownBytes)
            for asker in askers where asker.purpose == .checksum { announce(asker) }
            outputs.append(.encode(capture(name, place)))
            return
        }
    }

    /// Says by an empty part that the checksum is as of the turn's mark: the client compares what it
    /// holds then, and not what it holds when the checksum comes.
    private func announce(_ asker: Asker) {
        reply(to: asker.connection) { writer in
            let frame = writer.beginFrame(.answer, flags: .more, number: asker.number)
            writer.endFrame(at: frame)
        }
        asker.connection.pending.isMarkAnnounced = true
    }

    /// The node and the field of a question; all that asked are refused where there is none any more.
    private func locate(
        _ name: SliceName, for askers: [Asker]
    ) -> (node: AnyNode, field: ArraySlice<WireKey>)? {
        do throws(Refusal) {
            return try locate(name)
        } catch {
            for asker in askers { refuse(asker, error) }
            return nil
        }
    }
}

// MARK: - Answers
extension Server {
    /// Answers with what was encoded before, where the slice has not changed since.
    func reuse(_ name: SliceName, of node: AnyNode, for askers: [Asker]) -> Bool {
        // because counters change without a change of the tree
        guard name.form != .counters else { return false }
        let sequence = tree.turn.sequence
        if askers.allSatisfy({ $0.purpose == .checksum }) {
            guard let checksum = questions.checksum(of: name, node) else { return false }
            for asker in askers { tell(checksum, to: asker, at: sequence) }
            return true
        }
        guard let (answer, isThere) = answers.find(name, of: node, at: now) else { return false }
        // because what is kept of the answer may be known no more
        guard
            let checksum = questions.checksum(of: name, node)
                ?? (askers.contains { $0.purpose == .checksum } ? nil : 0)
        else { return false }
        for asker in askers {
            tell(answer.bytes, answer, isThere: isThere, checksum, to: asker, at: sequence)
        }
        return true
    }

    /// Answers with what was encoded just now, on the loop.
    func share(
        _ encoding: SliceEncoding, of name: SliceName, _ node: AnyNode, among askers: [Asker]
    ) {
        share(encoding, of: name, SliceState(of: node, at: tree.turn.sequence), among: askers)
    }

    private func share(
        _ encoding: SliceEncoding, of name: SliceName, _ state: SliceState, among askers: [Asker]
    ) {
        let askers = askers.filter(\.isWaiting)
        var answer: Answer?
        if encoding.bytes.count > Self.copiedBytesMax,
            askers.contains(where: { $0.purpose != .checksum })
        {
            answer = answers.keep(encoding, of: name, state, at: now)
        }
        for asker in askers {
            tell(
                encoding.bytes, answer, isThere: encoding.isThere, encoding.checksum, to: asker,
                at: max(state.sequence, asker.sequence))
        }
    }

    // because a few bytes of each are cheaper than an answer that is shared
    /// Most bytes of an answer that each connection gets its own copy of.
    static let copiedBytesMax = 4 << 10

    private func tell(
        _ bytes: [UInt8], _ answer: Answer?, isThere: Bool, _ checksum: UInt64,
        to asker: Asker, at sequence: UInt64
    ) {
        if asker.purpose == .checksum { return tell(checksum, to: asker, at: sequence) }
        var prefix = WireWriter(capacity: 64)
        if asker.purpose == .value {
            prefix.array(count: 3)
            Revision(epoch: tree.turn.epoch, sequence: sequence).encode(into: &prefix)
            prefix.bool(isThere)
            if !isThere { prefix.null() }
        }
        guard let answer else {
            prefix.raw(bytes)
            return reply(asker, prefix)
        }
        begin(answer, behind: prefix.bytes, of: asker.number, to: asker.connection)
    }

    private func tell(_ checksum: UInt64, to asker: Asker, at sequence: UInt64) {
        let answer = SliceChecksum(
            revision: Revision(epoch: tree.turn.epoch, sequence: sequence), checksum: checksum)
        var body = WireWriter(capacity: 64)
        answer.encode(into: &body)
        reply(asker, body)
    }

    private func reply(_ asker: Asker, _ body: borrowing WireWriter) {
        asker.connection.endQuestion(asker.number)
        reply(to: asker.connection) { writer in
            body.withBytes { writer.parts(.answer, number: asker.number, body: $0) }
        }
    }

    private func refuse(_ asker: Asker, _ refusal: Refusal) {
        asker.connection.endQuestion(asker.number)
        refuse(FrameHeader(kind: .ask, number: asker.number), refusal, of: asker.connection)
    }
}

// MARK: - Answers under way
extension Server {
    /// The next parts of a connection's large answers, about `bytesMax` bytes; none where none may
    /// leave yet.
    func takeParts(of connection: Connection, bytesMax: Int) -> [UInt8] {
        var writer = WireWriter(capacity: 0)
        while writer.count < bytesMax, let first = connection.streams.first,
            first.turn <= releasedTurn
        {
            connection.streams[0].appendPart(to: &writer)
            connection.streams[0].movedAt = now
            if connection.streams[0].isComplete { endStream(0, of: connection) }
        }
        return writer.bytes
    }

    /// Begins to send a large answer; nothing more is read from the connection until it was taken.
    private func begin(
        _ answer: Answer, behind prefix: [UInt8], of number: UInt64, to connection: Connection
    ) {
        answers.take(answer)
        connection.streams.append(
            AnswerStream(number, prefix, answer, turn: turnNumber, at: now))
        connection.urgentTurn = turnNumber
        note(connection)
        pauseReading(connection)
    }

    /// Sends an answer that no other connection gets.
    func send(_ bytes: [UInt8], of number: UInt64, to connection: Connection) {
        guard bytes.count > Self.copiedBytesMax else {
            return reply(to: connection) { $0.parts(.answer, number: number, body: bytes.span) }
        }
        connection.questions.append(number)
        begin(answers.single(bytes), behind: [], of: number, to: connection)
    }

    private func endStream(_ index: Int, of connection: Connection) {
        let stream = connection.streams.remove(at: index)
        answers.release(stream.answer)
        connection.endQuestion(stream.number)
        // because it may have been the last that a half-closed connection was kept for
        if connection.isInputEnded { note(connection) }
    }

    /// Forgets the questions of a connection that is about to end, or has.
    func dropQuestions(of connection: Connection) {
        for stream in connection.streams { answers.release(stream.answer) }
        connection.streams = []
        connection.questions = []
    }

    /// Ends answers that no longer move, where others wait for the room that they take.
    ///
    /// *Cost*: a look at all connections, where a question waits for room.
    func cutStalledAnswers() {
        answers.dropIdle(at: now)
        guard questions.running == nil, questions.hasLate,
            answers.busyByteCount >= limits.answersBytesMax
        else { return }
        var stalled = connections.values.filter { connection in
            connection.streams.first.map { now &- $0.movedAt >= limits.answerDeadline } ?? false
        }
        stalled.sort {
            let (left, right) = ($0.streams[0].movedAt, $1.streams[0].movedAt)
            return left != right ? left < right : $0.id.rawValue < $1.id.rawValue
        }
        for connection in stalled where answers.busyByteCount >= limits.answersBytesMax {
            let text = "answersBytesMax \(limits.answersBytesMax) reached, and you do not read"
            while let stream = connection.streams.first {
                endStream(0, of: connection)
                refuse(
                    FrameHeader(kind: .ask, number: stream.number), Refusal(.busy, text),
                    of: connection)
            }
        }
    }
}
