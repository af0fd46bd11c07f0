import ReactorCore
import ReactorWire

// MARK: - Questions
extension Server {
    /// Answers a question that changes nothing, or lets it wait for its answer.
    func answer(_ header: FrameHeader, _ body: Span<UInt8>, of connection: Connection) {
        let ask: Ask
        do throws(WireError) {
            ask = try Ask(wireBytes: body)
        } catch {
            return refuse(header, Refusal(.decode, "ask: \(error)"), of: connection)
        }
        let question: (form: SliceName.Form, path: String, purpose: Asker.Purpose)
        switch ask {
        case .get(let path): question = (.value, path, .value)
        case .describe(let path): question = (.description, path, .whole)
        case .tree: question = (.entries, "/", .whole)
        case .stats: question = (.counters, "/", .whole)
        case .checksum(let path, let mode):
            question = (mode == .value ? .value : .replica, path, .checksum)
        case .limits:
            return reply(to: connection) { writer in
                writer.parts(.answer, number: header.number, body: limits.named.wireBytes().span)
            }
        case .past, .snapshot, .backup, .log, .export:
            return inquire(ask, header, of: connection)
        }
        do throws(Refusal) {
            let name = SliceName(form: question.form, path: try path(question.path))
            take(name, try locate(name), question.purpose, header, of: connection)
        } catch {
            refuse(header, error, of: connection)
        }
    }

    /// Answers a small question at once, within the turn's share; others wait for the turn's end.
    private func take(
        _ name: SliceName, _ place: (node: AnyNode, field: ArraySlice<WireKey>),
        _ purpose: Asker.Purpose, _ header: FrameHeader, of connection: Connection
    ) {
        connection.questions.append(header.number)
        let asker = Asker(
            connection: connection, number: header.number, purpose: purpose,
            sequence: tree.turn.sequence)
        // because a checksum is of the turn's mark, and those that wait come first
        if purpose != .checksum, !questions.hasSoon {
            if reuse(name, of: place.node, for: [asker]) { return }
            if turnShare > 0, byteEstimate(of: name, place.node) <= turnShare {
                return share(encode(name, place), of: name, place.node, among: [asker])
            }
        }
        questions.add(asker, for: name, of: place.node)
        if connection.questions.count >= limits.questionsPerConnectionMax {
            pauseReading(connection)
        }
    }

    /// Bytes that may still be encoded on the loop in the turn.
    var turnShare: Int {
        turnShareMax - questions.spent(in: endedTurns)
    }

    /// Bytes that may be encoded on the loop in a turn.
    var turnShareMax: Int { max(1, limits.answerBytesPerTurnMax) }

    /// The node and the field that a question is about.
    func locate(
        _ name: SliceName
    ) throws(Refusal) -> (node: AnyNode, field: ArraySlice<WireKey>) {
        let place = try find(name.path).get()
        guard !place.field.isEmpty else { return place }
        switch name.form {
        case .replica:
            throw Refusal(.path, "\(name.path) is inside a state: ask in value mode")
        case .description: throw notFound(name.path.description, place.node, place.field)
        case .value, .entries, .counters: return place
        }
    }

    /// About how many bytes an answer has; rather too many than too few.
    func byteEstimate(of name: SliceName, _ node: AnyNode) -> Int {
        switch name.form {
        case .value: questions.byteEstimate(of: name, node)
        case .replica where node.isCollection: 32 * node.children.count
        case .replica: questions.byteEstimate(of: name, node)
        case .description: 1_024 + 32 * node.children.count
        case .entries: 64 * tree.mountedCount
        case .counters: 1_024 + 16 * connections.count
        }
    }

    /// What an answer is encoded from, as of now.
    func capture(
        _ name: SliceName, _ place: (node: AnyNode, field: ArraySlice<WireKey>)
    ) -> SliceCapture {
        switch name.form {
        case .value: return place.node.captureValue(at: place.field)
        case .replica: return place.node.captureReplica()
        case .entries: return tree.captureEntries()
        case .description:
            let (description, names) = (describe(place.node), Array(place.node.children.keys))
            return SliceCapture { writer in
                var description = description
                description.children = names.sorted().map(\.text)
                description.encode(into: &writer)
                return .found
            }
        case .counters:
            let counters = counters()
            return SliceCapture { writer in
                counters.encode(into: &writer)
                return .found
            }
        }
    }

    /// Encodes an answer on the loop, from the turn's share.
    func encode(
        _ name: SliceName, _ place: (node: AnyNode, field: ArraySlice<WireKey>)
    ) -> SliceEncoding {
        let encoding = capture(name, place).encode()
        questions.spend(encoding.bytes.count, in: endedTurns)
        questions.learn(
            encoding, of: name, SliceState(of: place.node, at: tree.turn.sequence),
            grownBytes: questions.grownBytes)
        return encoding
    }

    /// What can be sent to a node and what it holds, but for the names of its children.
    private func describe(_ node: AnyNode) -> NodeDescription {
        NodeDescription(
            path: node.path.description, reactor: node.reactorName, doc: node.documentation,
            fingerprint: node.fingerprint, action: node.actionSchema, state: node.stateSchema,
            mutation: node.mutationSchema, reply: node.replySchema, children: [])
    }

    private func counters() -> [String: UInt64] {
        let memory = memory
        var all = stats.named
        all["connections"] = UInt64(memory.connections)
        all["sessions"] = UInt64(memory.sessions)
        all["slices"] = UInt64(memory.slices)
        all["subscriptions"] = UInt64(memory.subscriptions)
        all["readOnly"] = admission == .all ? 0 : 1
        all["shrinkOnly"] = admission == .shrinking ? 1 : 0
        all["nodes"] = UInt64(tree.mountedCount)
        all["sequence"] = tree.turn.sequence
        all["snapshotBytes"] = UInt64(memory.snapshotBytes)
        all["ringBytes"] = UInt64(memory.ringBytes)
        all["keptBytes"] = UInt64(memory.keptBytes)
        all["answerBytes"] = UInt64(memory.answerBytes)
        return all
    }
}

extension WireWriter {
    /// Longest body of one part of a value that is sent in parts.
    static let partBytesMax = 64 << 10

    /// Appends a value as frames of at most ``partBytesMax`` each; all but the last say "more".
    mutating func parts(
        _ kind: FrameKind, flags: FrameFlags = [], id: UInt32 = 0, number: UInt64,
        body: Span<UInt8>
    ) {
        var start = 0
        repeat {
            let end = min(body.count, start + Self.partBytesMax)
            let partFlags = end < body.count ? flags.union(.more) : flags
            let frame = beginFrame(kind, flags: partFlags, id: id, number: number)
            raw(body.extracting(start..<end))
            endFrame(at: frame)
            start = end
        } while start < body.count
    }
}
