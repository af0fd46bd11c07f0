import ReactorCore
import ReactorServer
import ReactorWire

/// A frame as a client sees it.
struct TestFrame: Equatable {
    var kind: FrameKind?
    var flags: FrameFlags
    var id: UInt32
    var number: UInt64
    var body: [UInt8]

    func decode<Value: WireCodable>(_ type: Value.Type) throws -> Value {
        try Value(wireBytes: body)
    }
}

/// A client made of plain frames: it sends what the test tells it to, right or wrong.
final class TestClient {
    private(set) var harness: ServerHarness
    let id: ConnectionID
    let socket: FakeSocket
    private(set) var ordinal: UInt64 = 0
    private var lastRequest: UInt64 = 0
    private var read = 0

    init(_ harness: ServerHarness, _ id: ConnectionID, _ socket: FakeSocket) {
        self.harness = harness
        self.id = id
        self.socket = socket
    }

    /// Continues with the server that has taken over the connection.
    func move(to successor: ServerHarness) { harness = successor }

    // MARK: Saying

    /// Sends raw bytes as one read.
    func send(_ bytes: [UInt8]) {
        harness.server.receive(id, bytes.span, at: harness.now)
    }

    func send(
        _ kind: FrameKind, flags: FrameFlags = [], id: UInt32 = 0, number: UInt64 = 0,
        _ body: [UInt8] = []
    ) {
        send(Self.frame(kind, flags: flags, id: id, number: number, body))
    }

    static func frame(
        _ kind: FrameKind, flags: FrameFlags = [], id: UInt32 = 0, number: UInt64 = 0,
        _ body: [UInt8] = []
    ) -> [UInt8] {
        var writer = WireWriter()
        let start = writer.beginFrame(kind, flags: flags, id: id, number: number)
        writer.raw(body)
        writer.endFrame(at: start)
        return writer.bytes
    }

    func hello(_ hello: Hello = Hello()) {
        send(.hello, number: Hello.magic, hello.wireBytes())
    }

    /// Opens a path under the client's number `id`.
    func open(_ path: String, as id: UInt32 = 0) {
        lastRequest += 1
        send(.open, id: id, number: lastRequest, Open(path: path).wireBytes())
    }

    /// Dispatches with the next ordinal.
    func dispatch(_ action: some WireCodable, to id: UInt32 = 0, options: DispatchOptions? = nil) {
        ordinal += 1
        dispatch(action, ordinal: ordinal, to: id, options: options)
    }

    func dispatch(
        _ action: some WireCodable, ordinal: UInt64, to id: UInt32 = 0,
        options: DispatchOptions? = nil
    ) {
        let body = (options?.wireBytes() ?? []) + action.wireBytes()
        send(.dispatch, flags: options == nil ? [] : .options, id: id, number: ordinal, body)
    }

    /// Dispatches options without an action, with the next ordinal.
    func dispatchNothing(to id: UInt32, options: DispatchOptions) {
        send(.dispatch, flags: .options, id: id, number: nextOrdinal(), options.wireBytes())
    }

    /// The next ordinal, which counts as used.
    func nextOrdinal() -> UInt64 {
        ordinal += 1
        return ordinal
    }

    func add(_ amount: Int = 1, to id: UInt32 = 0) {
        dispatch(Tally.Action.add(by: amount), to: id)
    }

    /// Dispatches several actions as one transaction, with the next ordinal.
    func batch(_ actions: [(id: UInt32, action: any WireCodable)]) {
        ordinal += 1
        var writer = WireWriter()
        writer.array(count: actions.count)
        for (id, action) in actions {
            writer.array(count: 2)
            writer.unsigned(UInt64(id))
            action.encode(into: &writer)
        }
        send(.batch, number: ordinal, writer.bytes)
    }

    @discardableResult
    func subscribe(
        _ path: String, _ mode: SubscriptionMode = .replica, from: Revision? = nil,
        patches: Bool = false, selecting selection: Selection? = nil
    ) -> UInt64 {
        lastRequest += 1
        let body = Subscribe(
            path: path, mode: selection == nil ? mode : .selection, from: from, patches: patches,
            selection: selection
        ).wireBytes()
        send(.subscribe, number: lastRequest, body)
        return lastRequest
    }

    func ask(_ ask: Question) {
        lastRequest += 1
        send(.ask, number: lastRequest, ask.wireBytes())
    }

    func disconnect() { harness.disconnect(id) }

    // MARK: Hearing

    /// Lets the reader take `count` more bytes.
    func take(_ count: Int = .max) {
        socket.room = count
        harness.pump(id, socket)
        harness.carryOut()
    }

    /// The complete frames that arrived since the last call.
    func frames() -> [TestFrame] {
        let all = Self.parse(socket.received, from: &read)
        return all
    }

    func frames(_ kind: FrameKind) -> [TestFrame] { frames().filter { $0.kind == kind } }

    static func parse(_ bytes: [UInt8], from offset: inout Int) -> [TestFrame] {
        var frames: [TestFrame] = []
        while bytes.count - offset >= FrameHeader.byteCount {
            let header = try? FrameHeader.decode(
                bytes.span, at: offset, frameBytesMax: Int(UInt32.max))
            guard let header else { break }
            let end = offset + FrameHeader.byteCount + Int(header.length)
            guard end <= bytes.count else { break }
            frames.append(
                TestFrame(
                    kind: FrameKind(rawValue: header.kind), flags: header.flags, id: header.id,
                    number: header.number,
                    body: Array(bytes[(offset + FrameHeader.byteCount)..<end])))
            offset = end
        }
        return frames
    }
}

/// The outcome of each action, from the frames of one connection.
struct OutcomeLog {
    private(set) var outcomes: [UInt64: [Outcome]] = [:]

    init(_ frames: [TestFrame]) throws {
        for frame in frames { try note(frame) }
    }

    mutating func note(_ frame: TestFrame) throws {
        switch frame.kind {
        case .applied:
            let first = try UInt64(wireBytes: frame.body)
            for step in 0..<UInt64(frame.id) {
                outcomes[frame.number + step, default: []].append(
                    .applied(sequence: first + step, reply: nil, ownerEnded: false))
            }
        case .outcome:
            outcomes[frame.number, default: []].append(try frame.decode(Outcome.self))
        default: break
        }
    }

    subscript(ordinal: UInt64) -> Outcome? { outcomes[ordinal]?.last }
}

extension Outcome {
    var code: String? {
        if case .rejected(let code, _) = self { code } else { nil }
    }

    var isApplied: Bool {
        if case .applied = self { true } else { false }
    }
}
