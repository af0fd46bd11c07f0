import ReactorBytes
import ReactorCore
import ReactorWire

/// Answers requests for values, descriptions and counters. It answers small ones at once, within
/// the turn's share, and others at the end of a turn; it has large ones encoded off the loop, one
/// after another. It passes queries about the past to the archive.
///
/// *Place*: ``Intake`` passes it the request frames; the end of a turn answers waiting requests.
/// Its only state are ``QuestionTable``, the waiting requests, and ``AnswerTable``, the large
/// answers in progress; both state their invariants.
final class AnswerService {
    private var limits: ServerLimits
    private let orders: ShellOrders
    private let delivery: Delivery
    private let chronicle: Chronicle
    private let source: AnswerSource
    /// Reads the figures of the server's parts.
    let meter: ServerMeter
    /// Questions that wait for their answers.
    private let questions = Cell(QuestionTable())
    private let inquiries: Inquiries
    /// Questions that wait for a state.
    let barriers: Barriers
    /// Large answers that are under way.
    private let answers = Cell(AnswerTable())
    /// The last question, whose answer may have taken the time of a turn.
    private(set) var lastAsked: AskedQuestion?

    /// Maximum bytes of an answer that is copied for each connection: copying a small answer is
    /// cheaper than sharing it.
    private static let copiedBytesMax = 4 << 10

    init(
        _ meter: ServerMeter, _ limits: ServerLimits, _ orders: ShellOrders,
        _ chronicle: Chronicle, _ delivery: Delivery
    ) {
        self.meter = meter
        source = AnswerSource(tree: meter.tree, orders: orders)
        self.limits = limits
        self.orders = orders
        self.chronicle = chronicle
        self.delivery = delivery
        inquiries = Inquiries(source, orders, chronicle, delivery)
        barriers = Barriers(meter.tree, orders, delivery)
        // After a recovery, the size of the tree is unknown.
        if chronicle.turnStart > 0 { questions.value.grow(by: QuestionTable.unknownBytes) }
    }

    /// Applies other limits from here on.
    func setLimits(_ limits: ServerLimits) {
        self.limits = limits
        questions.value.goOn()
    }

    /// Large answers, kept or in progress.
    var table: AnswerTable { answers.value }

    /// The figures of the server and its tree, for metrics.
    func figures(endedTurns: UInt64) -> ServerFigures {
        var figures = meter.figures(
            answerByteCount: answers.value.byteCount, endedTurns: endedTurns)
        figures.questionsWaiting[.soon] = questions.value.soonCount
        figures.questionsWaiting[.late] = questions.value.lateCount
        return figures
    }

    /// The figures for a live view.
    var activity: ServerActivity {
        let (nodes, others) = meter.nodes(countMax: ServerActivity.nodesMax)
        return ServerActivity(
            counters: meter.counters(answerByteCount: answers.value.byteCount), nodes: nodes,
            otherActions: others, clients: meter.clients())
    }

    /// The request whose answer is encoded off the loop; nil if none is.
    var encodingSubject: EncodingSubject? { questions.value.runningSubject }

    /// Whether requests wait for the share of the next turn.
    var hasSoon: Bool { questions.value.hasSoon }

    /// Whether the end of a turn answers a request, or has one encoded.
    var isDue: Bool {
        barriers.isDue
            || questions.value.isActive
                && (questions.value.hasFinished || questions.value.hasSoon
                    || !questions.value.isEncoding && questions.value.hasEligibleLate
                        && answers.value.busyByteCount < limits.answersBytesMax)
    }

    private var sequence: UInt64 { source.tree.turn.sequence }

    // MARK: The turn's share

    /// Maximum bytes that are encoded on the loop in a turn.
    private var shareMax: Int { max(1, limits.answerBytesPerTurnMax) }

    /// Bytes that may still be encoded on the loop in this turn.
    private var shareLeft: Int { shareMax - questions.value.spentBytes }

    /// Begins the share of another turn.
    func beginTurn() { questions.value.beginTurn() }

    /// Records the bytes of a turn's deltas: no slice has grown by much more.
    func grow(by byteCount: Int) { questions.value.grow(by: UInt64(byteCount)) }
}

// MARK: - Questions
extension AnswerService {
    /// Answers a request, or queues it.
    func ask(_ header: FrameHeader, _ body: Span<UInt8>, of connection: Connection) {
        let ask: Question
        do throws(WireError) {
            ask = try Question(wireBytes: body)
        } catch {
            return delivery.refuse(header, Refusal(.decode, "ask: \(error)"), of: connection)
        }
        lastAsked = AskedQuestion(
            ask: ask, connection: connection.id, peer: connection.peer, time: orders.now)
        let question: (form: SliceName.Form, path: String, purpose: Asker.Purpose)
        switch ask {
        case .get(let path): question = (.value, path, .value)
        case .select(let path, let selection): question = (.selection(selection), path, .value)
        case .checksum(_, .selection):
            let text = "ask: the checksum of a selection: ask for that of the whole value"
            return delivery.refuse(header, Refusal(.decode, text), of: connection)
        case .describe(let path): question = (.description, path, .whole)
        case .tree: question = (.entries, "/", .whole)
        case .stats: question = (.counters, "/", .whole)
        case .checksum(let path, let mode):
            question = (mode == .value ? .value : .replica, path, .checksum)
        case .limits:
            return send(limits.named.wireBytes(), of: header.number, to: connection)
        case .types(let path): return answerTypes(at: path, header, of: connection)
        case .past, .snapshot, .backup, .keepBackup, .log, .export:
            return inquiries.askPast(ask, header, of: connection)
        case .metrics, .clients, .kick, .slowLog, .activity, .reload, .restart, .cluster, .stepDown:
            return inquiries.ask(ask, header, of: connection)
        case .sync: return barriers.ask(ask, header, of: connection)
        }
        answer(question, header, of: connection)
    }

    private func answer(
        _ question: (form: SliceName.Form, path: String, purpose: Asker.Purpose),
        _ header: FrameHeader, of connection: Connection
    ) {
        do throws(Refusal) {
            let name = try source.name(
                try source.name(question.form, question.path), for: connection.access)
            answerOrWait(
                name, try source.locate(name), question.purpose, header, of: connection)
        } catch {
            delivery.refuse(header, error, of: connection)
        }
    }

    /// Answers with the types at a path, whose size does not depend on the state.
    private func answerTypes(at path: String, _ header: FrameHeader, of connection: Connection) {
        do throws(Refusal) {
            let types = try source.types(at: path, for: connection.access).wireBytes()
            delivery.reply(to: connection) { writer in
                writer.parts(.answer, number: header.number, body: types.span)
            }
        } catch {
            delivery.refuse(header, error, of: connection)
        }
    }

    /// Answers a small request at once, within the turn's share; queues others for the turn's end.
    private func answerOrWait(
        _ name: SliceName, _ place: NodeFinder.Found, _ purpose: Asker.Purpose,
        _ header: FrameHeader, of connection: Connection
    ) {
        connection.requests.ask(header.number)
        let asker = Asker(
            connection: connection, number: header.number, purpose: purpose, sequence: sequence)
        // A checksum is of the turn's mark. Waiting requests come before new ones.
        if purpose != .checksum, !questions.value.hasSoon {
            if reuse(name, of: place.node, for: [asker]) { return }
            if shareLeft > 0, byteEstimate(of: name, place.node) <= shareLeft {
                return share(encode(name, place), of: name, place.node, among: [asker])
            }
        }
        questions.value.list(asker, for: name, of: place.node)
        if connection.requests.questionCount >= limits.questionsPerConnectionMax {
            delivery.pauseReading(connection)
        }
    }

    /// Answers waiting requests within the turn's share, as of the turn's mark, and has the next
    /// large answer encoded off the loop.
    func answerWaiting() {
        barriers.answerDue()
        guard questions.value.isActive else { return }
        deliver()
        while let taken = questions.value.popSoon() {
            let (name, askers) = (taken.name, taken.askers)
            guard let place = locate(name, for: askers) else { continue }
            if reuse(name, of: place.node, for: askers) { continue }
            if questions.value.join(taken, of: place.node, at: sequence) {
                announceChecksums(to: askers)
                continue
            }
            let byteCount = byteEstimate(of: name, place.node)
            if byteCount > shareMax {
                questions.value.postpone(taken)
            } else if shareLeft <= 0 || byteCount > shareLeft {
                questions.value.restoreSoon(taken)
                break
            } else {
                share(encode(name, place), of: name, place.node, among: askers)
            }
        }
        if !questions.value.isEncoding { beginEncoding() }
    }

    /// Takes the encoding that a ``ServerOutput/encode(_:)`` ordered.
    func encoded(_ encoding: SliceEncoding) { questions.value.finish(encoding) }

    private func deliver() {
        guard let (running, encoding) = questions.value.takeFinished() else { return }
        if let byteCount = encoding.omittedByteCount {
            let refusal = meter.room.refusal(of: byteCount, for: "the answer")
            return inquiries.refuse(running.askers.filter(\.isWaiting), refusal)
        }
        meter.room.grant(encoding.bytes.count)
        questions.value.learn(
            encoding, of: running.name, running.state, grownBytes: running.grownBytes)
        share(encoding, of: running.name, running.state, among: running.askers)
    }

    private func beginEncoding() {
        guard questions.value.hasEligibleLate else { return }
        let read = largeAnswers
        let mayGo = { [limits] (uid: UInt32) in read.readCount(of: uid) < limits.heavyPerUIDMax }
        while let taken = questions.value.popLate(where: mayGo) {
            let (name, askers) = (taken.name, taken.askers)
            guard let place = locate(name, for: askers) else { continue }
            if reuse(name, of: place.node, for: askers) { continue }
            if answers.value.byteCount >= limits.answersBytesMax { answers.value.dropIdle() }
            guard answers.value.byteCount < limits.answersBytesMax else {
                return questions.value.restoreLate(taken)
            }
            questions.value.run(name, SliceState(of: place.node, at: sequence), for: askers)
            announceChecksums(to: askers)
            orders.append(.encode(capture(name, place).limited(to: meter.room.grantMax)))
            return
        }
    }

    private var largeAnswers: LargeAnswers { .init(meter.connections.values, above: shareMax) }

    /// Whether a user of these requests may have another large answer in progress.
    private func mayRead(_ answer: Answer, _ askers: [Asker]) -> Bool {
        answer.bytes.count <= shareMax
            || largeAnswers.admits(answer, for: askers, countMax: limits.heavyPerUIDMax)
    }

    /// Sends an empty part, which tells the client that the checksum is as of the turn's mark: the
    /// client compares its state at that mark, not its state when the checksum arrives.
    private func announceChecksums(to askers: [Asker]) {
        for asker in askers where asker.purpose == .checksum {
            delivery.reply(to: asker.connection) { writer in
                let frame = writer.beginFrame(.answer, flags: .more, number: asker.number)
                writer.endFrame(at: frame)
            }
            asker.connection.outlet.value.announceMark()
        }
    }

    /// The node and the field of a request; refuses all its askers if there is none any more.
    private func locate(_ name: SliceName, for askers: [Asker]) -> NodeFinder.Found? {
        do throws(Refusal) {
            return try source.locate(name)
        } catch {
            inquiries.refuse(askers, error)
            return nil
        }
    }

    /// Estimated bytes of an answer, rather too many than too few.
    private func byteEstimate(of name: SliceName, _ node: AnyNode) -> Int {
        questions.value.byteEstimate(
            of: name, node, nodeCount: source.tree.mountedCount,
            connectionCount: meter.connections.count)
    }

    /// Captures what an answer is encoded from, as of now.
    private func capture(_ name: SliceName, _ place: NodeFinder.Found) -> SliceCapture {
        guard name.form == .counters else { return source.capture(name, place) }
        let counters = meter.counters(answerByteCount: answers.value.byteCount)
        return SliceCapture { writer in
            counters.encode(into: &writer)
            return .found
        }
    }

    /// Encodes an answer on the loop, within the turn's share.
    private func encode(_ name: SliceName, _ place: NodeFinder.Found) -> SliceEncoding {
        let encoding = capture(name, place).encode()
        questions.value.spend(encoding.bytes.count)
        questions.value.learn(
            encoding, of: name, SliceState(of: place.node, at: sequence),
            grownBytes: questions.value.grownBytes)
        return encoding
    }
}

// MARK: - Answers
extension AnswerService {
    /// Answers with an earlier encoding if the slice has not changed since.
    private func reuse(_ name: SliceName, of node: AnyNode, for askers: [Asker]) -> Bool {
        // Counters change without a change of the tree.
        guard name.form != .counters else { return false }
        let sequence = sequence
        if askers.allSatisfy({ $0.purpose == .checksum }) {
            guard let checksum = questions.value.checksum(of: name, node) else { return false }
            for asker in askers { sendChecksum(checksum, to: asker, at: sequence) }
            return true
        }
        guard let (answer, isThere) = answers.value.answer(to: name, of: node, at: orders.now),
            mayRead(answer, askers)
        else { return false }
        // The kept encoding may have been dropped.
        guard
            let checksum = questions.value.checksum(of: name, node)
                ?? (askers.contains { $0.purpose == .checksum } ? nil : 0)
        else { return false }
        for asker in askers {
            sendAnswer(answer.bytes, answer, isThere: isThere, checksum, to: asker, at: sequence)
        }
        return true
    }

    /// Answers with an encoding that was just made on the loop.
    private func share(
        _ encoding: SliceEncoding, of name: SliceName, _ node: AnyNode, among askers: [Asker]
    ) {
        share(encoding, of: name, SliceState(of: node, at: sequence), among: askers)
    }

    private func share(
        _ encoding: SliceEncoding, of name: SliceName, _ state: SliceState, among askers: [Asker]
    ) {
        let askers = askers.filter(\.isWaiting)
        var answer: Answer?
        if encoding.bytes.count > Self.copiedBytesMax,
            askers.contains(where: { $0.purpose != .checksum })
        {
            answer = answers.value.keep(encoding, of: name, state, at: orders.now)
        }
        for asker in askers {
            sendAnswer(
                encoding.bytes, answer, isThere: encoding.isThere, encoding.checksum, to: asker,
                at: max(state.sequence, asker.sequence))
        }
    }

    private func sendAnswer(
        _ bytes: [UInt8], _ answer: Answer?, isThere: Bool, _ checksum: UInt64,
        to asker: Asker, at sequence: UInt64
    ) {
        if asker.purpose == .checksum { return sendChecksum(checksum, to: asker, at: sequence) }
        var prefix = WireWriter(capacity: 64)
        if asker.purpose == .value {
            prefix.array(count: 3)
            Revision(epoch: source.tree.turn.epoch, sequence: sequence).encode(into: &prefix)
            prefix.bool(isThere)
            if !isThere { prefix.null() }
        }
        guard let answer else {
            prefix.raw(bytes)
            return reply(asker, prefix)
        }
        stream(answer, behind: prefix.bytes, of: asker.number, to: asker.connection)
    }

    private func sendChecksum(_ checksum: UInt64, to asker: Asker, at sequence: UInt64) {
        let answer = SliceChecksum(
            revision: Revision(epoch: source.tree.turn.epoch, sequence: sequence),
            checksum: checksum)
        var body = WireWriter(capacity: 64)
        answer.encode(into: &body)
        reply(asker, body)
    }

    private func reply(_ asker: Asker, _ body: borrowing WireWriter) {
        asker.connection.requests.endQuestion(asker.number)
        delivery.reply(to: asker.connection) { writer in
            body.withBytes { writer.parts(.answer, number: asker.number, body: $0) }
        }
    }
}

// MARK: - Answers under way
extension AnswerService {
    private func stream(
        _ answer: Answer, behind prefix: [UInt8], of number: UInt64, to connection: Connection
    ) {
        answers.value.retain(answer)
        delivery.send(answer, behind: prefix, of: number, to: connection)
    }

    /// Refuses the waiting requests of a connection whose rights have changed.
    func refuseWaiting(of connection: Connection) {
        inquiries.refuse(questions.value.askers(of: connection), Inquiries.changed)
    }

    /// Sends a connection the shell's answer to an inquiry.
    func answer(
        _ inquiry: Inquiry, with result: Result<[UInt8], Refusal>, to connection: Connection
    ) {
        let permitted = inquiries.permitted(result, of: inquiry, for: connection.access)
        answer(inquiry.number, with: permitted, to: connection)
    }

    /// Sends a connection the shell's answer: CBOR, or a refusal.
    func answer(
        _ number: UInt64, with result: Result<[UInt8], Refusal>, to connection: Connection
    ) {
        connection.requests.endInquiry()
        guard connection.isOpen else { return }
        switch result {
        case .failure(let refusal):
            orders.stats.countDenial(refusal)
            delivery.refuse(FrameHeader(kind: .ask, number: number), refusal, of: connection)
        case .success(let bytes): send(bytes, of: number, to: connection)
        }
        delivery.list(connection)
    }

    /// Sends an answer that no other connection shares, or refuses it if there is no room for it.
    private func send(_ bytes: [UInt8], of number: UInt64, to connection: Connection) {
        guard bytes.count > Self.copiedBytesMax else {
            return delivery.reply(to: connection) {
                $0.parts(.answer, number: number, body: bytes.span)
            }
        }
        guard answers.value.makeRoom(for: bytes.count, limits.answersBytesMax) else {
            return refuse([number], "\(answersMaxText) reached: try again later", of: connection)
        }
        connection.requests.ask(number)
        stream(answers.value.single(bytes), behind: [], of: number, to: connection)
    }

    private var answersMaxText: String { "answersBytesMax \(limits.answersBytesMax)" }

    private func refuse(_ numbers: [UInt64], _ text: String, of connection: Connection) {
        for number in numbers {
            delivery.refuse(
                FrameHeader(kind: .ask, number: number), Refusal(.busy, text), of: connection)
        }
    }

    /// Drops large answers that no connection reads any more.
    func releaseEnded() {
        guard delivery.hasEndedAnswers else { return }
        for answer in delivery.takeEndedAnswers() { answers.value.release(answer) }
        questions.value.goOn()
    }

    /// Ends large answers that make no progress, if other requests wait for their room.
    ///
    /// *Cost*: O(connections) if a request waits for room; otherwise O(1).
    func cutStalled(_ connections: ConnectionTable) {
        answers.value.dropIdle(at: orders.now)
        let refused = answers.value.takeRefusal() ?? 0
        let isWanted =
            refused > 0 || !questions.value.isEncoding && questions.value.hasLate
        guard isWanted, !hasRoom(for: refused) || questions.value.isHeldUp else { return }
        var stalled: [(movedAt: UInt64, connection: Connection)] = []
        for connection in connections.values {
            guard let movedAt = connection.outlet.value.streamMovedAt,
                orders.now &- movedAt >= limits.answerDeadline
            else { continue }
            stalled.append((movedAt, connection))
        }
        stalled.sort {
            ($0.movedAt, $0.connection.id.rawValue) < ($1.movedAt, $1.connection.id.rawValue)
        }
        for (_, connection) in stalled {
            let isHeldUp = questions.value.isHeldUp(connection.peer.uid)
            guard !hasRoom(for: refused) || isHeldUp else { continue }
            let limit = isHeldUp ? "heavyPerUIDMax \(limits.heavyPerUIDMax)" : answersMaxText
            refuse(
                delivery.cutAnswers(of: connection), "\(limit) reached, and you read too slowly",
                of: connection)
            releaseEnded()
        }
    }

    /// Whether there is room for an answer of `byteCount` bytes besides those in progress.
    private func hasRoom(for byteCount: Int) -> Bool {
        let busy = answers.value.busyByteCount
        return busy < limits.answersBytesMax
            && (busy == 0 || busy + byteCount <= limits.answersBytesMax)
    }
}
