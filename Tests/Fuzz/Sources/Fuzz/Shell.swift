import ReactorBytes
import ReactorCore
import ReactorServer
import ReactorWire

/// A server without sockets: records its output; every write succeeds immediately.
final class Shell {
    /// The connection that receives the fuzzer's input.
    static let stranger = ConnectionID(1)
    /// A well-behaved client that follows every slice.
    static let witness = ConnectionID(2)

    let server: Server
    /// All bytes written to each connection.
    private(set) var written: [ConnectionID: [UInt8]] = [:]
    private(set) var closed: Set<ConnectionID> = []

    init() {
        var seed: UInt64 = 0
        server = Server(Tree(Slate(), epoch: 7)) {
            seed += 1
            return seed
        }
        for id in [Self.stranger, Self.witness] {
            server.connect(id, Peer(uid: 1_000, gid: 1_000, pid: 1), at: 0)
        }
        var writer = WireWriter()
        writer.greet()
        for (number, mode) in ["replica", "value"].enumerated() {
            let frame = writer.beginFrame(.subscribe, number: UInt64(number))
            let wish: WireValue = ["path": "/", "mode": .text(mode)]
            wish.encode(into: &writer)
            writer.endFrame(at: frame)
        }
        writer.withBytes { server.receive(Self.witness, $0, at: 0) }
        endTurn()
    }

    /// Passes bytes from ``stranger`` to the server, split into pieces of the sizes that `pieces`
    /// returns.
    func receive(_ bytes: [UInt8], pieces: () -> Int) {
        var start = 0
        while start < bytes.count {
            let end = min(bytes.count, start + max(1, pieces()))
            server.receive(Self.stranger, bytes.span.extracting(start..<end), at: 0)
            start = end
        }
    }

    /// Ends the turn and executes the server's outputs, until there are none.
    func endTurn() {
        // Bounded: the server orders at most one further write after each write.
        for _ in 0..<10_000 {
            server.endTurn(at: 0)
            let outputs = server.takeOutputs()
            if outputs.isEmpty, !server.needsTurn { return }
            for output in outputs { carryOut(output) }
        }
        fatalError("refuted: the server comes to rest")
    }

    private func carryOut(_ output: ServerOutput) {
        switch output {
        case .write(let id, let slices):
            for slice in slices { written[id, default: []] += slice.storage[slice.range] }
            server.written(id, at: 0)
        case .close(let id), .cut(let id):
            closed.insert(id)
            server.disconnect(id, at: 0)
        case .append(let batch): server.appended(batch.turn, at: 0)
        case .encode(let capture): server.encoded(capture.encode())
        case .forward, .reply, .pauseReading, .resumeReading, .readHistory, .log, .inquire, .sum,
            .beginSnapshot, .confirm, .cutConnections, .wake:
            break
        }
    }
}

extension WireWriter {
    /// Appends a valid first frame.
    mutating func greet() {
        let frame = beginFrame(.hello, number: Hello.magic)
        Hello(program: "fuzz").encode(into: &self)
        endFrame(at: frame)
    }
}
