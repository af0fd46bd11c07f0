import ReactorCore
import ReactorWire

// MARK: - Questions
extension Server {
    /// Answers a question that changes nothing.
    func answer(_ header: FrameHeader, _ body: Span<UInt8>, of connection: Connection) {
        let ask: Ask
        do throws(WireError) {
            ask = try Ask(wireBytes: body)
        } catch {
            return refuse(header, Refusal(.decode, "ask: \(error)"), of: connection)
        }
        var value = WireWriter()
        switch ask {
        case .get(let path), .describe(let path):
            switch find(path) {
            case .failure(let refusal): return refuse(header, refusal, of: connection)
            case .success((let node, let field)):
                if case .get = ask {
                    get(node, field, into: &value)
                } else if field.isEmpty {
                    describe(node).encode(into: &value)
                } else {
                    return refuse(header, notFound(path, node, field), of: connection)
                }
            }
        case .tree: treeEntries().encode(into: &value)
        case .stats: counters().encode(into: &value)
        case .limits: limits.named.encode(into: &value)
        case .past, .snapshot, .backup, .log, .export:
            return inquire(ask, header, of: connection)
        case .checksum(let path, let mode):
            return self.ask(header, path, mode, of: connection)
        }
        reply(to: connection) { writer in
            value.withBytes { bytes in
                writer.parts(.answer, number: header.number, body: bytes)
            }
        }
    }

    private func get(
        _ node: AnyNode, _ field: ArraySlice<WireKey>, into writer: inout WireWriter
    ) {
        writer.array(count: 3)
        Revision(epoch: tree.turn.epoch, sequence: tree.turn.sequence).encode(into: &writer)
        var value = WireWriter()
        let isThere = node.encodeValue(at: field, into: &value) == .found
        writer.bool(isThere)
        if isThere { value.withBytes { writer.raw($0) } } else { writer.null() }
    }

    private func describe(_ node: AnyNode) -> NodeDescription {
        NodeDescription(
            path: node.path.description, reactor: node.reactorName, doc: node.documentation,
            fingerprint: node.fingerprint, action: node.actionSchema, state: node.stateSchema,
            mutation: node.mutationSchema, reply: node.replySchema,
            children: node.children.keys.sorted().map(\.text))
    }

    private func treeEntries() -> [TreeEntry] {
        var entries: [TreeEntry] = []
        tree.forEachNode { node in
            entries.append(
                TreeEntry(
                    path: node.path.description, reactor: node.reactorName,
                    sequence: node.sequence))
        }
        return entries
    }

    private func counters() -> [String: UInt64] {
        let memory = memory
        var all = stats.named
        all["connections"] = UInt64(memory.connections)
        all["sessions"] = UInt64(memory.sessions)
        all["slices"] = UInt64(memory.slices)
        all["subscriptions"] = UInt64(memory.subscriptions)
        all["nodes"] = UInt64(tree.mountedCount)
        all["sequence"] = tree.turn.sequence
        all["snapshotBytes"] = UInt64(memory.snapshotBytes)
        all["ringBytes"] = UInt64(memory.ringBytes)
        all["keptBytes"] = UInt64(memory.keptBytes)
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
