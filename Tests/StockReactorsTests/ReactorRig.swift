import ReactorCore
import Testing

/// A reactor in its own tree, with actions and states in JSON and a replica that follows the
/// deltas.
final class ReactorRig<R: Reactor> {
    let tree: Tree
    private let reactor: R
    private let node: AnyNode
    private var replica: R.State
    private var ordinal: UInt64 = 0

    init(_ reactor: R) {
        self.reactor = reactor
        replica = reactor.initialState
        tree = Tree(reactor, epoch: 7)
        node = tree.root
        node.isReplicated = true
    }

    /// Dispatches an action and returns the outcome: `applied`, `replied {"token":1}`,
    /// `deferred`, `rejected held`, `not an action: …`.
    func send(
        _ json: String, from connection: UInt64 = 1,
        sourceLocation: SourceLocation = #_sourceLocation
    ) throws -> String {
        let bytes = try WireValue(json: json).wireBytes()
        ordinal += 1
        let result = tree.dispatch(
            to: node, bytes.span, by: Self.caller(connection), ordinal: ordinal)
        follow(sourceLocation)
        return try Self.text(result)
    }

    /// Ends a connection and returns the deferred replies that this caused.
    func end(
        _ connection: UInt64, sourceLocation: SourceLocation = #_sourceLocation
    ) throws -> [String] {
        tree.endConnection(connection)
        return try answers(sourceLocation)
    }

    /// Returns the deferred replies since the last call.
    func answers(_ sourceLocation: SourceLocation = #_sourceLocation) throws -> [String] {
        gathered += tree.turn.takeResolutions()
        defer { gathered = [] }
        follow(sourceLocation)
        return try gathered.map { resolution in
            let client = "client \(resolution.ticket.client)"
            switch resolution.outcome {
            case .applied(_, let reply, _): return try "\(client): \(Self.json(reply))"
            case .accepted: return "\(client): accepted"
            case .rejected(let code, _): return "\(client): rejected \(code)"
            case .failed(let message): return "\(client): failed \(message)"
            }
        }
    }

    private var gathered: [Resolution] = []

    /// The state as JSON.
    var state: String {
        get throws { try value(of: { node.encodeState(into: &$0) }) }
    }

    /// The value at a path such as `entries/theme` in the state, as JSON; `nil` if there is none.
    func slice(_ path: String) throws -> String? {
        let field = path.split(separator: "/").map { WireKey(String($0)) }
        var writer = WireWriter()
        guard node.encodeValue(at: field[...], into: &writer) == .found else { return nil }
        return try WireValue(wireBytes: writer.bytes).json()
    }

    static func caller(_ connection: UInt64) -> Caller {
        Caller(
            connection: connection, client: 100 + connection, uid: 1_000, gid: 1_000,
            pid: Int32(truncatingIfNeeded: 5_000 + connection))
    }

    private func value(of encode: (inout WireWriter) -> Void) throws -> String {
        var writer = WireWriter()
        encode(&writer)
        return try WireValue(wireBytes: writer.bytes).json()
    }

    private static func text(_ result: DispatchResult) throws -> String {
        switch result {
        case .applied: "applied"
        case .replied(_, let reply): try "replied \(json(reply))"
        case .accepted: "accepted"
        case .deferred: "deferred"
        case .failed(.rejected(let rejection)): "rejected \(rejection.code)"
        case .failed(.decode(let error)): "not an action: \(error)"
        }
    }

    private static func json(_ reply: WireEmbedded?) throws -> String {
        try reply?.decode(as: WireValue.self).json() ?? "nothing"
    }

    /// Applies the turn's deltas to the replica, and compares the two states by their bytes.
    private func follow(_ sourceLocation: SourceLocation) {
        let turn = tree.turn
        gathered += turn.takeResolutions()
        do {
            for change in turn.changes {
                try turn.withDeltas { bytes throws(WireError) in
                    try reduce(bytes.extracting(change.start..<change.end))
                }
            }
        } catch {
            Issue.record("a delta does not decode: \(error)", sourceLocation: sourceLocation)
        }
        #expect(turn.complaints.isEmpty, sourceLocation: sourceLocation)
        turn.begin()
        var truth = WireWriter()
        node.encodeState(into: &truth)
        #expect(replica.wireBytes() == truth.bytes, sourceLocation: sourceLocation)
    }

    private func reduce(_ frame: Span<UInt8>) throws(WireError) {
        var cursor = WireCursor(offset: FrameHeader.byteCount)
        _ = try Origin.decode(frame, &cursor)
        while cursor.offset < frame.count {
            reactor.reduce(state: &replica, mutation: try R.Mutation.decode(frame, &cursor))
        }
    }
}
