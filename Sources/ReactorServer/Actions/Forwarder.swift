import DequeModule
import ReactorBytes
import ReactorCore
import ReactorWire

/// Carries the actions of a following server's clients to the leading one.
///
///     forwarder.take(header, body, nodes, session, connection)    // a client acts
///     forwarder.flush()                                           // the turn ends
///     forwarder.settle(session)                                   // a row has the action
///
/// An action is *owed* from its arrival until a row has it, or the leading daemon refuses it. While
/// there is no link, owed actions wait. Another link gets all of them again: the session's ordinals
/// decide in the leading daemon which of them are new.
///
/// A leading daemon may end since it carries out an action. So the actions that it had and had not
/// reported as carried out are suspects if another term begins: each is sent alone, with the number of
/// daemons that ended so.
///
/// *Place*: the ``Dispatcher`` passes it new actions; ``RowApplier`` and ``Server`` report the rest.
/// *Shape*: the owed actions of a client are in ascending order of ordinals, and those that the link
/// has come first. ``invariants()`` states the invariants.
final class Forwarder {
    private let orders: ShellOrders
    private let delivery: Delivery
    private var limits: ServerLimits
    /// Whether actions are carried; otherwise they are refused.
    private(set) var isEnabled = false
    /// The term of the daemon at the other end of the link; nil while there is no link.
    private var term: UInt64?
    /// The term of the last link.
    private var lastTerm: UInt64 = 0
    private var clients: [ConnectionID: OwingClient] = [:]
    /// What is known of actions whose client has lost its connection.
    private var abandoned = AbandonedActions()
    /// Connections with actions that the link does not have.
    private var unsent: [ConnectionID] = []
    /// The suspect that the link has; nil if it has none.
    private var alone: (connection: ConnectionID, ordinal: UInt64)?
    /// Bytes of the frames that the link has and the leading daemon has not answered.
    private var unansweredByteCount = 0
    /// Whether the leading daemon has stepped down, so that it did not end by an action.
    private var hasSteppedDown = false

    init(_ orders: ShellOrders, _ delivery: Delivery, _ limits: ServerLimits) {
        self.orders = orders
        self.delivery = delivery
        self.limits = limits
    }

    /// Applies other limits from here on.
    func setLimits(_ limits: ServerLimits) { self.limits = limits }

    /// Carries actions from here on.
    func enable() { isEnabled = true }

    /// Number of owed actions. *Cost*: O(clients).
    var owedCount: Int { clients.values.reduce(0) { $0 + $1.owed.count } }

    /// Connections whose clients have acted.
    var connections: [ConnectionID] { clients.keys.sorted { $0.rawValue < $1.rawValue } }

    /// Checks the invariants, in debug builds.
    @inline(__always)
    private func invariants() {
        assert(
            clients.count > 32
                || clients.values.allSatisfy {
                    $0.sentCount <= $0.owed.count && (term != nil || $0.sentCount == 0)
                }, "the link has more actions than are owed")
        assert(alone == nil || term != nil, "a suspect was sent without a link")
    }
}

/// A client that has acted, with its owed actions. It is a class so that a change of its actions
/// copies none of them.
private final class OwingClient {
    let connection: Connection
    let session: Session
    var owed: Deque<OwedAction> = []
    /// Number of owed actions, from the first on, that the link has.
    var sentCount = 0
    /// Highest ordinal that came on the connection.
    var lastOrdinal: UInt64 = 0
    /// Whether the link knows the client.
    var isIntroduced = false

    init(_ connection: Connection, _ session: Session) {
        self.connection = connection
        self.session = session
    }

    /// The client as the leading daemon has to know it now.
    var remote: RemoteClient { RemoteClient(connection, session) }
}

/// An action without an outcome.
struct OwedAction {
    let ordinal: UInt64
    let nodes: [NodeAlias]
    let frame: [UInt8]
    /// When it came from the client, in nanoseconds.
    let arrivedAt: UInt64
    /// Whether it may have a deadline.
    let hasOptions: Bool
    /// Number of leading daemons that ended while they had it.
    var deaths: UInt64 = 0
    /// Whether a link had it, since the last change of the leadership.
    var wasSent = false
    /// Whether it counts among the bytes that the link has.
    var isCounted = false
    /// Whether the daemon of the last link that had it has carried it out.
    var hasRun = false

    /// What is known of the action beyond its connection.
    var doubt: AbandonedActions.Doubt {
        AbandonedActions.Doubt(deaths: deaths, isOpen: wasSent && !hasRun)
    }

    /// Whether the actions name the same nodes by the same numbers.
    func agrees(with names: [UInt32: UInt32]) -> Bool {
        nodes.allSatisfy { names[$0.id] ?? $0.node == $0.node }
    }
}

// MARK: - Actions
extension Forwarder {
    /// Takes a new action, during which `deaths` daemons have ended before. Reads no more from a
    /// client that waits for too many outcomes.
    func take(
        _ header: FrameHeader, _ body: Span<UInt8>, _ nodes: [NodeAlias], _ session: Session,
        _ connection: Connection, deaths: UInt64 = 0
    ) {
        var writer = WireWriter(capacity: FrameHeader.byteCount + body.count)
        writer.header(header)
        writer.raw(body)
        let client = clients[connection.id] ?? OwingClient(connection, session)
        // A client that sends an ordinal twice has one of them carried out.
        guard header.number > client.owed.last?.ordinal ?? 0 else { return }
        let doubt = abandoned.recall(header.number, of: session)
        let action = OwedAction(
            ordinal: header.number, nodes: nodes, frame: writer.bytes,
            arrivedAt: orders.now &- connection.inlet.value.heldFor,
            hasOptions: header.flags.contains(.options),
            deaths: max(deaths, doubt?.deaths ?? 0), wasSent: doubt?.isOpen ?? false)
        if client.owed.count == client.sentCount { unsent.append(connection.id) }
        client.owed.append(action)
        client.lastOrdinal = action.ordinal
        clients[connection.id] = client
        session.passOn(action.ordinal)
        orders.stats.forwarded &+= 1
        connection.owe(ActionCount(count: 1, byteCount: action.frame.count))
        let owed = connection.owed
        if owed.count > limits.inFlightMax || owed.byteCount > limits.inFlightBytesMax {
            delivery.pauseReading(connection)
        }
        invariants()
    }

    /// Whether the client has sent an action on its present connection. Where actions are not carried,
    /// that is not known, and the answer is true.
    func hasTaken(_ ordinal: UInt64, of session: Session) -> Bool {
        guard isEnabled, let connection = session.connection else { return true }
        return ordinal <= clients[connection]?.lastOrdinal ?? 0
    }

    /// Records that rows have the actions of a session up to its ordinal.
    func settle(_ session: Session, _ connection: Connection) {
        guard let client = clients[connection.id] else { return }
        while let first = client.owed.first, first.ordinal <= session.ordinal {
            takeOut(first, at: 0, of: client)
        }
        invariants()
    }

    /// Records that the leading daemon has refused an action, which no row has. Returns whether it
    /// was owed.
    func refuse(_ ordinal: UInt64, of connection: Connection) -> Bool {
        guard let client = clients[connection.id],
            let index = client.owed.firstIndex(where: { $0.ordinal == ordinal })
        else { return false }
        takeOut(client.owed[index], at: index, of: client)
        invariants()
        return true
    }

    private func takeOut(_ action: OwedAction, at index: Int, of client: OwingClient) {
        let connection = client.connection
        client.owed.remove(at: index)
        if index < client.sentCount { client.sentCount -= 1 }
        if action.isCounted { unansweredByteCount -= action.frame.count }
        if let alone, alone == (connection.id, action.ordinal) { self.alone = nil }
        connection.settle(ActionCount(count: 1, byteCount: action.frame.count))
    }

    /// Forgets a connection that has ended: its client sends the actions again when it comes back.
    func abandonOwed(of connection: Connection, isGoodbye: Bool) {
        guard let client = clients.removeValue(forKey: connection.id) else { return }
        if alone?.connection == connection.id { alone = nil }
        for action in client.owed {
            if action.isCounted { unansweredByteCount -= action.frame.count }
            if !isGoodbye {
                abandoned.remember(action.doubt, of: action.ordinal, client.session)
            }
        }
        if client.isIntroduced {
            forward(.disconnect(connection: connection.id.rawValue, isGoodbye: isGoodbye))
        }
        invariants()
    }

    /// Forgets what is known of the actions of a session that has ended.
    func dropDoubts(of session: Session) { abandoned.dropDoubts(of: session) }

    /// Takes the actions of which daemons have ended, and whose client has lost its connection.
    func takeAbandoned() -> [AbandonedActions.Suspect] {
        abandoned.takeSuspects(countMax: ActionWatch.suspectsMax)
    }

    /// Takes all owed actions, as this server begins to lead, in the order in which each client sent
    /// them. `all` are all connections.
    func takeOwed(settling all: [Connection]) -> [(connection: Connection, action: OwedAction)] {
        endTerm()
        for connection in all { connection.settle(connection.owed) }
        let taken = connections.flatMap { id in
            clients[id].map { client in
                client.owed.map { (connection: client.connection, action: $0) }
            } ?? []
        }
        clients = [:]
        close()
        unsent = []
        return taken
    }
}

// MARK: - The link
extension Forwarder {
    /// A link to the daemon that leads in `term` is open.
    func open(_ term: UInt64) {
        close()
        if term != lastTerm { endTerm() }
        (self.term, lastTerm) = (term, term)
        let connections = connections
        forward(.begin(connections.compactMap { clients[$0]?.remote }))
        for id in connections { clients[id]?.isIntroduced = true }
        unsent = connections.filter { clients[$0]?.owed.isEmpty == false }
        flush()
    }

    /// The link has ended.
    func close() {
        (term, alone, unansweredByteCount) = (nil, nil, 0)
        for client in clients.values {
            client.isIntroduced = false
            client.sentCount = 0
            for index in client.owed.indices { client.owed[index].isCounted = false }
        }
        invariants()
    }

    /// The leading daemon hands over: what it has not carried out is not the cause of its end.
    func excuse() { hasSteppedDown = true }

    /// A row says that a daemon has begun to lead in `term`. If there was a link to it before the
    /// former daemon's last row was applied, ``excuse()`` was too late, and says nothing about it.
    func hear(of term: UInt64) { if term <= lastTerm { hasSteppedDown = false } }

    /// Another daemon leads, and the former may have ended since it carried out an action, unless it
    /// has handed over.
    private func endTerm() {
        let isSuspected = !hasSteppedDown
        hasSteppedDown = false
        abandoned.endTerm(isSuspected: isSuspected)
        for client in clients.values {
            for index in client.owed.indices where client.owed[index].wasSent {
                if isSuspected, !client.owed[index].hasRun { client.owed[index].deaths += 1 }
                client.owed[index].wasSent = false
            }
        }
    }

    /// The leading daemon has carried out the actions of a connection up to `ordinal`.
    func ran(_ ordinal: UInt64, of connection: ConnectionID) {
        guard let client = clients[connection] else { return }
        for index in client.owed.indices {
            guard client.owed[index].ordinal <= ordinal else { break }
            if client.owed[index].isCounted {
                unansweredByteCount -= client.owed[index].frame.count
            }
            client.owed[index].hasRun = true
            client.owed[index].isCounted = false
        }
        if let alone, alone.connection == connection, alone.ordinal <= ordinal {
            self.alone = nil
        }
        flush()
    }

    /// Sends the actions that the link does not have.
    func flush() {
        guard term != nil, !unsent.isEmpty, unansweredByteCount < Self.linkBytesMax else { return }
        let connections = unsent
        unsent = []
        for id in connections { send(id) }
        invariants()
    }

    private func send(_ id: ConnectionID) {
        guard let client = clients[id], client.sentCount < client.owed.count else { return }
        if !client.isIntroduced {
            client.isIntroduced = true
            forward(.connect(client.remote))
        }
        while client.sentCount < client.owed.count, unansweredByteCount < Self.linkBytesMax {
            let isSuspect = client.owed[client.sentCount].deaths > 0
            if isSuspect, alone != nil { break }
            let count = isSuspect ? 1 : Self.sendableCount(client.owed[client.sentCount...])
            forward(client.owed[client.sentCount..<client.sentCount + count], of: id)
            for index in client.sentCount..<client.sentCount + count {
                client.owed[index].wasSent = true
                client.owed[index].hasRun = false
                client.owed[index].isCounted = true
                unansweredByteCount += client.owed[index].frame.count
            }
            client.sentCount += count
            if isSuspect {
                alone = (id, client.owed[client.sentCount - 1].ordinal)
                break
            }
        }
        if client.sentCount < client.owed.count { unsent.append(id) }
    }

    /// Bytes of frames that the leading daemon has not answered, from which on no more are sent.
    private static let linkBytesMax = 8 << 20
    /// Maximum bytes of the frames of one request; a longer frame goes alone.
    private static let requestBytesMax = 1 << 20

    /// Maximum nanoseconds between the arrivals of the first action of a request and of one with
    /// options.
    private static let spanMax: UInt64 = 1_000_000

    /// Number of actions, from the first on, that one request can have.
    private static func sendableCount(_ actions: Deque<OwedAction>.SubSequence) -> Int {
        var names: [UInt32: UInt32] = [:]
        var byteCount = 0
        let begin = actions.first?.arrivedAt ?? 0
        return actions.prefix { action in
            // A request has one time of arrival, by which deadlines count.
            guard !action.hasOptions || action.arrivedAt &- begin < spanMax,
                action.deaths == 0, action.agrees(with: names),
                byteCount == 0 || byteCount + action.frame.count <= requestBytesMax
            else { return false }
            byteCount += action.frame.count
            for node in action.nodes { names[node.id] = node.node }
            return true
        }.count
    }

    private func forward(_ actions: Deque<OwedAction>.SubSequence, of id: ConnectionID) {
        var nodes: [NodeAlias] = []
        var frames: [UInt8] = []
        for action in actions {
            for node in action.nodes where !nodes.contains(node) { nodes.append(node) }
            frames += action.frame
        }
        forward(
            .actions(
                connection: id.rawValue, nodes: nodes, frames: frames,
                deaths: actions.first?.deaths ?? 0,
                waited: orders.now &- (actions.first?.arrivedAt ?? orders.now)))
    }

    private func forward(_ request: ForwardRequest) { orders.append(.forward(request)) }
}

extension RemoteClient {
    /// The client of an open connection.
    init(_ connection: Connection, _ session: Session) {
        let peer = connection.peer
        self.connection = connection.id.rawValue
        client = session.client
        secret = session.secret
        (uid, gid, pid, groups) = (peer.uid, peer.gid, peer.pid, peer.groups)
        isAtAdminSocket = peer.isAtAdminSocket
        program = connection.program
        ordinal = session.ordinal
    }
}
