import ReactorCore
import ReactorServer
import ReactorWire
import Testing

/// A mirror that applies frames by the rules of the wire alone: it holds back snapshots, deltas and
/// values until a mark.
struct PlainMirror {
    /// The progress of a slice.
    struct View {
        var mode: SubscriptionMode
        var path: String
        /// Bytes of the shown state or value; `nil` until the first mark.
        var bytes: [UInt8]?
        var tally: Tally.State?
        var page: Page.State?
        var isAbsent = false
    }

    private(set) var views: [UInt32: View] = [:]
    private(set) var markedSequence: UInt64 = 0
    private(set) var lags = 0
    private(set) var gone: Set<UInt32> = []
    private var requests: [UInt64: (path: String, mode: SubscriptionMode)] = [:]
    private var staged: [TestFrame] = []
    private var parts: [UInt32: [UInt8]] = [:]

    /// Records the slice that a request asked for.
    mutating func asked(_ number: UInt64, _ path: String, _ mode: SubscriptionMode) {
        requests[number] = (path, mode)
    }

    func tally(_ path: String) -> Tally.State? {
        views.values.first { $0.path == path && $0.mode == .replica }?.tally
    }

    func page(_ path: String) -> Page.State? {
        views.values.first { $0.path == path && $0.mode == .replica }?.page
    }

    func value(_ path: String) -> [UInt8]? {
        views.values.first { $0.path == path && $0.mode == .value }?.bytes
    }

    mutating func take(_ frames: [TestFrame]) throws {
        for frame in frames { try take(frame) }
    }

    private mutating func take(_ frame: TestFrame) throws {
        switch frame.kind {
        case .subscribed:
            guard let request = requests[frame.number] else { return }
            views[frame.id] = View(mode: request.mode, path: request.path)
        case .snapshot, .delta, .value: staged.append(frame)
        case .lag:
            lags += 1
            staged.removeAll()
        case .gone:
            gone.insert(frame.id)
            views[frame.id] = nil
        case .mark:
            #expect(frame.number >= markedSequence, "a mark goes back")
            markedSequence = frame.number
            for frame in staged { try apply(frame) }
            staged.removeAll()
        default: break
        }
    }

    private mutating func apply(_ frame: TestFrame) throws {
        guard views[frame.id] != nil else { return }
        guard frame.kind != .delta else { return try applyDelta(frame) }
        parts[frame.id, default: []] += frame.body
        if frame.flags.contains(.more) { return }
        let bytes = parts.removeValue(forKey: frame.id) ?? []
        views[frame.id]?.bytes = bytes
        views[frame.id]?.isAbsent = frame.flags.contains(.absent)
        guard frame.kind == .snapshot else { return }
        if views[frame.id]?.path == "/page" {
            views[frame.id]?.page = try Page.State(wireBytes: bytes)
        } else {
            views[frame.id]?.tally = try Tally.State(wireBytes: bytes)
        }
    }

    private mutating func applyDelta(_ frame: TestFrame) throws {
        var cursor = WireCursor()
        _ = try Origin.decode(frame.body.span, &cursor)
        while cursor.offset < frame.body.count {
            if views[frame.id]?.path == "/page" {
                let mutation = try Page.Action.decode(frame.body.span, &cursor)
                guard var state = views[frame.id]?.page else { continue }
                Page().reduce(state: &state, mutation: mutation)
                views[frame.id]?.page = state
            } else {
                let mutation = try Tally.Mutation.decode(frame.body.span, &cursor)
                guard var state = views[frame.id]?.tally else { continue }
                Tally().reduce(state: &state, mutation: mutation)
                views[frame.id]?.tally = state
            }
        }
    }
}

extension TestClient {
    /// Subscribes, and records the request in `mirror`.
    func follow(
        _ path: String, _ mode: SubscriptionMode = .replica, in mirror: inout PlainMirror
    ) {
        mirror.asked(subscribe(path, mode), path, mode)
    }
}

extension ServerHarness {
    func tally(_ path: String) throws -> Tally.State {
        let node = try #require(server.tree.node(at: try SlicePath(path)) as? Node<Tally>)
        return node.state
    }

    func value(_ path: String) throws -> [UInt8] {
        let (node, field) = server.tree.resolve(try SlicePath(path))
        var writer = WireWriter()
        #expect(node.encodeValue(at: field, into: &writer) == .found)
        return writer.bytes
    }
}
