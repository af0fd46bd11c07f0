import ReactorWire
import StockReactors

/// A blocking connection to the daemon that sends and reads frames only.
///
/// It has at most one write in progress, and reads everything that a write causes before the next:
/// the daemon receives the same input in every run, whatever the speed of either side.
final class FrameSocket {
    private static let node: UInt32 = 1
    /// Number of outcomes between two confirmations, as the client in Swift sends them by default.
    private static let confirmInterval: UInt64 = 512

    private let socket: RawSocket
    private let increment = Counter.Action.increment(by: 1).wireBytes()
    private var writer = WireWriter()
    private var input: [UInt8] = []
    /// The start of the next frame in ``input``.
    private var start = 0
    private var ordinal: UInt64 = 0
    private var confirmed: UInt64 = 0

    /// Connects to the daemon at `path` and opens the counter.
    init(connectingTo path: String) throws {
        socket = try RawSocket(connectingTo: path)
        frame(.hello, Hello(program: "reactor-bench").wireBytes(), number: Hello.magic)
        frame(.open, (["path": "/counter"] as WireValue).wireBytes(), id: Self.node)
        try sendFrames()
        try receive(.opened)
    }

    /// Follows the counter as a replica, and reads its state.
    func subscribe() throws {
        let wish: WireValue = ["path": "/counter", "mode": "replica"]
        frame(.subscribe, wish.wireBytes())
        try sendFrames()
        try receive(.subscribed)
        try receive(.mark)
    }

    /// Sends `count` increments with one call, and reads until all are applied.
    func increment(count: Int) throws {
        if ordinal - confirmed >= Self.confirmInterval {
            confirmed = ordinal
            frame(.confirm, [], number: confirmed)
        }
        for _ in 0..<count {
            ordinal += 1
            frame(.dispatch, increment, id: Self.node, number: ordinal)
        }
        try sendFrames()
        var applied: UInt64 = ordinal - UInt64(count)
        while applied < ordinal {
            let header = try receive(.applied)
            applied = header.number + UInt64(header.id) - 1
        }
    }

    /// Reads `count` deltas, and the mark after them.
    func receiveDeltas(count: Int) throws {
        for _ in 0..<count { try receive(.delta) }
        try receive(.mark)
    }

    private func frame(
        _ kind: FrameKind, _ body: [UInt8], id: UInt32 = 0, number: UInt64 = 0
    ) {
        let start = writer.beginFrame(kind, id: id, number: number)
        writer.raw(body)
        writer.endFrame(at: start)
    }

    private func sendFrames() throws {
        try socket.send(writer.bytes)
        writer.removeAll()
    }

    /// Reads up to the first frame of `kind`; only marks and the start of a session come before it.
    @discardableResult
    private func receive(_ kind: FrameKind) throws -> FrameHeader {
        while true {
            let header = try receiveFrame()
            switch FrameKind(rawValue: header.kind) {
            case kind: return header
            case .welcome, .mark, .snapshot: continue
            default: throw LoadError("expected \(kind), got a frame of kind \(header.kind)")
            }
        }
    }

    private func receiveFrame() throws -> FrameHeader {
        while true {
            if let header = try header() {
                let end = start + FrameHeader.byteCount + Int(header.length)
                if end <= input.count {
                    start = end
                    return header
                }
            }
            input.removeFirst(start)
            start = 0
            input += try socket.receiveSome()
        }
    }

    /// The header at ``start``, if it has arrived.
    private func header() throws(FrameError) -> FrameHeader? {
        let bytes = input
        return try FrameHeader.decode(
            bytes.span, at: start, frameBytesMax: WireLimits.daemonFrameBytesMax)
    }
}
