import ReactorBytes
import ReactorCore
import ReactorWire

@testable import ReactorServer

/// The parts of a server without the server itself, and one connection with a session.
final class OrganBench {
    let tree = TestTree.make()
    let limits: ServerLimits
    let orders = ShellOrders(logInterval: 10, eventsMax: 4)
    let sessions: SessionTable
    let chronicle: Chronicle
    let delivery: Delivery
    let outcomes: OutcomeWriter
    let dispatcher: Dispatcher
    let openNodes: OpenNodes
    let sharing: SliceSharing
    let subscriptions: Subscriptions
    let answers: AnswerService
    let handshake: Handshake
    let peers: PeerAdmission
    let intake: Intake
    let connections = ConnectionTable()
    let states: StateCeiling
    let session: Session
    let connection: Connection

    init(keepsHistory: Bool = false, change: (inout ServerLimits) -> Void = { _ in }) throws {
        var limits = ServerLimits()
        change(&limits)
        self.limits = limits
        let recovery = Recovery(of: tree, limits: limits)
        sessions = recovery.sessions
        chronicle = Chronicle(
            try recovery.finish(epoch: 7, sequence: 0), keepsHistory: keepsHistory, limits, orders)
        delivery = Delivery(limits, orders)
        outcomes = OutcomeWriter(
            tree, sessions, connections, chronicle, delivery, orders, limits)
        states = StateCeiling(recovery, limits)
        let time = InputTime(limits, ownerUID: nil)
        dispatcher = Dispatcher(
            tree, limits, orders, chronicle, outcomes, delivery, connections, states,
            time, Forwarder(orders, delivery, limits), watching: ActionWatch())
        openNodes = OpenNodes(tree, delivery, countMax: limits.nodesPerConnectionMax)
        sharing = SliceSharing(tree, limits, orders, chronicle, delivery)
        subscriptions = Subscriptions(recovery, limits, orders, chronicle, delivery, sharing)
        answers = AnswerService(
            ServerMeter(
                tree: tree, orders: orders, dispatcher: dispatcher, connections: connections,
                sessions: sessions,
                chronicle: chronicle, delivery: delivery, openNodes: openNodes, sharing: sharing,
                subscriptions: subscriptions, states: states, room: MemoryGrants()),
            limits, orders, chronicle, delivery)
        var secret: UInt64 = 0
        handshake = Handshake(
            tree, sessions, chronicle, outcomes, delivery, limits, daemonName: "bench"
        ) {
            secret += 1
            return secret
        }
        peers = PeerAdmission(limits, ownerUID: nil)
        intake = Intake(
            limits, orders, peers, delivery, dispatcher, openNodes, subscriptions, answers,
            handshake, UserQuotas(connections, orders, ownerUID: nil), time,
            UserBacklog(limits, chronicle, ownerUID: nil))
        session = sessions.make(uid: 5, secret: [1], at: 0).0
        connection = Self.connection(1)
        connections.insert(connection)
        sessions.join(session, connection.id)
        connection.open(session)
        tree.open()
    }

    static func connection(_ number: UInt64) -> Connection {
        Connection(id: ConnectionID(number), peer: Peer(uid: 5, gid: 5, pid: 1))
    }

    /// Opens a path under the client's number `id`.
    func open(_ path: String, as id: UInt32 = 0) {
        let body = Open(path: path).wireBytes()
        openNodes.open(
            FrameHeader(length: UInt32(body.count), kind: .open, id: id, number: 1), body.span,
            of: connection)
    }

    /// Ends a turn without deltas, and returns its frames for connections: replies, then outcomes.
    func endTurn() -> [TestFrame] {
        let listed = delivery.takeListed()
        listed.visit { _ = delivery.endFrames(of: $0) }
        let output = delivery.makeOutput(tree.turn.sequence, [], 0..<0)
        listed.visit { _ = delivery.enqueue($0, output) }
        delivery.seal(listed, [], batchByteCount: nil)
        tree.turn.begin()
        return Self.frames(output.replies) + Self.frames(output.outcomes)
    }

    /// Takes the orders for the shell, as text.
    func takeOrders() -> [String] {
        let taken = orders.takeAll()
        return taken.map { output in
            switch output {
            case .write(let id, _): "write \(id.rawValue)"
            case .pauseReading(let id): "pause \(id.rawValue)"
            case .resumeReading(let id): "resume \(id.rawValue)"
            case .close(let id): "close \(id.rawValue)"
            case .cut(let id): "cut \(id.rawValue)"
            case .encode: "encode"
            case .readHistory: "read history"
            case .inquire: "inquire"
            default: "other"
            }
        }
    }

    static func frames(_ bytes: [UInt8]) -> [TestFrame] {
        var frames: [TestFrame] = []
        var offset = 0
        while let header = try? FrameHeader.decode(
            bytes.span, at: offset, frameBytesMax: Int(UInt32.max))
        {
            let start = offset + FrameHeader.byteCount
            offset = start + Int(header.length)
            frames.append(
                TestFrame(
                    kind: FrameKind(rawValue: header.kind), flags: header.flags, id: header.id,
                    number: header.number, body: Array(bytes[start..<offset])))
        }
        return frames
    }
}
