import ReactorCore
import Testing

extension Caller {
    /// The process behind connection `number`.
    static func connection(_ number: UInt64) -> Caller {
        Caller(
            connection: number, client: 100 + number, uid: 1_000, gid: 1_000,
            pid: Int32(truncatingIfNeeded: 5_000 + number))
    }
}

extension Tree {
    /// Dispatches the encoded `action` and returns the result: `applied 1`, `replied 1
    /// {"text":"a"}`, `deferred 1`, `rejected code`, `not an action`.
    @discardableResult
    func send(
        _ action: some WireCodable, to path: String = "/", from connection: UInt64 = 1,
        ordinal: UInt64 = 1
    ) throws -> String {
        let node = try #require(try node(at: SlicePath(path)), "no node at \(path)")
        let result = dispatch(
            to: node, action.wireBytes().span, by: .connection(connection), ordinal: ordinal)
        return try result.text
    }

    /// Dispatches actions to nodes as one transaction.
    func sendTogether(
        _ actions: [(path: String, action: any WireCodable)], from connection: UInt64 = 1
    ) throws -> String {
        var writer = WireWriter()
        var items: [BatchItem] = []
        for (path, action) in actions {
            let node = try #require(try node(at: SlicePath(path)), "no node at \(path)")
            let start = writer.count
            action.encode(into: &writer)
            items.append(BatchItem(node: node, range: start..<writer.count))
        }
        let result = writer.withBytes { bytes in
            transact(items, bytes, by: .connection(connection), ordinal: 1)
        }
        return try result.text
    }

    /// The value at a path as JSON; `nil` if there is none.
    func json(_ path: String = "/") throws -> String? {
        let (node, field) = resolve(try SlicePath(path))
        var writer = WireWriter()
        guard node.encodeValue(at: field, into: &writer) == .found else { return nil }
        return try WireValue(wireBytes: writer.bytes).json()
    }

    /// Whether a path leads to a value, and if not, whether it ever can.
    func reach(_ path: String) throws -> WireReach {
        let (node, field) = resolve(try SlicePath(path))
        var writer = WireWriter()
        return node.encodeValue(at: field, into: &writer)
    }

    /// The state of the node at `path`.
    func state<R: Reactor>(of type: R.Type, _ path: String = "/") throws -> R.State {
        let node = try #require(try node(at: SlicePath(path)) as? Node<R>, "no \(type) at \(path)")
        return node.state
    }

    /// The delta frames of the turn, as `2@1: 3 bytes` (node, sequence).
    var deltas: [String] {
        turn.withDeltas { bytes in
            var deltas: [String] = []
            var offset = 0
            while offset < bytes.count {
                let header = try? FrameHeader.decode(bytes, at: offset, frameBytesMax: 1 << 24)
                guard let header else { return deltas + ["broken at \(offset)"] }
                deltas.append("\(header.id)@\(header.number)")
                offset += FrameHeader.byteCount + Int(header.length)
            }
            return deltas
        }
    }
}

extension DispatchResult {
    /// The result of an action as a short text.
    var text: String {
        get throws {
            switch self {
            case .applied(let sequence): "applied \(sequence)"
            case .replied(let sequence, let reply):
                try "replied \(sequence) \(reply.decode(as: WireValue.self).json())"
            case .accepted(let sequence): "accepted \(sequence)"
            case .deferred(let sequence): "deferred \(sequence)"
            case .failed(.rejected(let rejection)): "rejected \(rejection.code)"
            case .failed(.decode): "not an action"
            }
        }
    }
}

extension Resolution {
    /// The ticket and its reply.
    var text: String {
        get throws {
            let who = "\(ticket.client)/\(ticket.ordinal)"
            return switch outcome {
            case .applied(let sequence, let reply, _):
                try "\(who) at \(sequence): "
                    + "\(reply?.decode(as: WireValue.self).json() ?? "nothing")"
            case .accepted(let sequence): "\(who): accepted at \(sequence)"
            case .rejected(let code, let message): "\(who): \(code) \(message)"
            case .failed(let message): "\(who): \(message)"
            }
        }
    }
}
