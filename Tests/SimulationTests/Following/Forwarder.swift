import ReactorWire

@testable import ReactorServer
@testable import ReactorTesting

/// Carries the actions of a following server's clients to the leading one, under their sessions: the
/// part of a cluster that does not exist yet. Outcomes come back in rows alone.
final class Forwarder {
    private unowned let cluster: ServerCluster
    /// Index of the world whose clients it serves.
    private let index: Int
    /// Connections of clients whose actions are carried, by number.
    private var carried: [ConnectionID: Carried] = [:]
    /// Whether the actions of a connection are carried.
    private let isCarried: (ConnectionID) -> Bool

    private struct Carried {
        /// Bytes that are not a whole frame yet.
        var partial: [UInt8] = []
        /// Frames that wait for ``link``.
        var waiting: [UInt8] = []
        var session: [UInt8] = []
        /// The connection to the leading server.
        var link: SimulatedLink?
    }

    /// Carries what clients of world `index` send on connections for which `isCarried` is true.
    init(
        of index: Int, in cluster: ServerCluster, _ isCarried: @escaping (ConnectionID) -> Bool
    ) {
        self.index = index
        self.cluster = cluster
        self.isCarried = isCarried
        let hooks = cluster.worlds[index].hooks
        hooks.onRead = { [unowned self] id, bytes in read(bytes, from: id) }
        hooks.onWrite = { [unowned self] id, bytes in look(at: bytes, to: id) }
    }

    /// Drops all connections, as another server leads.
    func reset() { carried = [:] }

    /// Finds the client's session in its welcome, and begins it with the leading server.
    private func look(at bytes: [UInt8], to id: ConnectionID) {
        guard cluster.leader != index, isCarried(id) else { return }
        var rest = bytes
        for frame in Self.takeFrames(&rest) where frame.kind == .welcome {
            guard let welcome = try? Welcome(wireBytes: frame.body) else { continue }
            let world = cluster.leading
            for (other, former) in carried where former.session == welcome.session && other != id {
                if let link = former.link { world.shut(link) }
                carried[other] = nil
            }
            let link = world.open(nil, uid: 1_000)
            let hello = Hello(
                session: welcome.session, epoch: welcome.epoch, since: welcome.sequence)
            carried[id, default: Carried()].session = welcome.session
            carried[id]?.link = link
            send(
                Self.frame(.hello, number: Hello.magic, hello.wireBytes())
                    + (carried[id]?.waiting ?? []), on: link)
            carried[id]?.waiting = []
        }
    }

    /// Takes the actions out of what a client sends.
    private func read(_ bytes: [UInt8], from id: ConnectionID) -> [UInt8] {
        guard cluster.leader != index, isCarried(id) else { return bytes }
        var state = carried[id] ?? Carried()
        state.partial += bytes
        let frames = Self.takeFrames(&state.partial)
        var own: [UInt8] = []
        var others: [UInt8] = []
        let sessions = cluster.worlds[index].server.sessions.all
        let known = sessions.first { $0.secret == state.session }?.ordinal ?? 0
        for frame in frames {
            switch frame.kind {
            // An action that the rows have gets its outcome here.
            case .dispatch where frame.number > known, .batch where frame.number > known:
                others += frame.bytes
            case .open:
                own += frame.bytes
                others += frame.bytes
            default: own += frame.bytes
            }
        }
        if state.link == nil { state.waiting += others }
        carried[id] = state
        if let link = state.link { send(others, on: link) }
        return own
    }

    private func send(_ bytes: [UInt8], on link: SimulatedLink) {
        guard link.isOpen, !bytes.isEmpty else { return }
        link.send(bytes[...])
        cluster.leading.scheduleUp(link)
    }

    // MARK: Frames

    private struct Frame {
        var kind: FrameKind?
        var number: UInt64
        var bytes: ArraySlice<UInt8>
        var body: [UInt8] { Array(bytes.dropFirst(FrameHeader.byteCount)) }
    }

    private static func frame(_ kind: FrameKind, number: UInt64, _ body: [UInt8]) -> [UInt8] {
        var writer = WireWriter()
        let start = writer.beginFrame(kind, number: number)
        writer.raw(body)
        writer.endFrame(at: start)
        return writer.bytes
    }

    /// Removes the complete frames from the front of a stream.
    private static func takeFrames(_ stream: inout [UInt8]) -> [Frame] {
        var frames: [Frame] = []
        var offset = 0
        while let header = try? FrameHeader.decode(
            stream.span, at: offset, frameBytesMax: Int(UInt32.max))
        {
            let end = offset + FrameHeader.byteCount + Int(header.length)
            guard end <= stream.count else { break }
            frames.append(
                Frame(
                    kind: FrameKind(rawValue: header.kind), number: header.number,
                    bytes: stream[offset..<end]))
            offset = end
        }
        stream.removeFirst(offset)
        return frames
    }
}
