import ReactorBytes
import ReactorCore
import ReactorWire

/// Gives clients their sessions: a new one, the former one, or a new one under the former secret if
/// its actions were lost before their commit.
///
/// *Place*: ``Intake`` passes it hello and goodbye frames, and the server calls it when a
/// connection ends. *Shape*: a session has at most one connection at a time. Handshake has no other
/// state; the sessions state their invariants.
final class Handshake {
    private let tree: Tree
    /// All sessions.
    let sessions: SessionTable
    private let chronicle: Chronicle
    private let outcomes: OutcomeWriter
    private let delivery: Delivery
    private var limits: ServerLimits
    /// Name and version in the welcome.
    private let daemonName: String
    /// Returns random 64-bit numbers.
    let random: () -> UInt64

    /// The result of a hello.
    enum Greeting {
        /// The client has a session and its welcome.
        case welcomed
        /// The client broke the protocol, and the connection is closed.
        case failed(FaultCode, String)
        /// Client and daemon have no protocol version in common.
        case otherVersion(String)
    }

    /// Nanoseconds for which a session without actions waits for its client.
    static let blankSessionNanoseconds: UInt64 = 60_000_000_000

    init(
        _ tree: Tree, _ sessions: SessionTable, _ chronicle: Chronicle,
        _ outcomes: OutcomeWriter, _ delivery: Delivery, _ limits: ServerLimits,
        daemonName: String, random: @escaping () -> UInt64
    ) {
        self.tree = tree
        self.sessions = sessions
        self.chronicle = chronicle
        self.outcomes = outcomes
        self.delivery = delivery
        self.limits = limits
        self.daemonName = daemonName
        self.random = random
    }

    /// Applies other limits from here on.
    func setLimits(_ limits: ServerLimits) {
        self.limits = limits
        sessions.setLimits(limits)
    }

    // MARK: Hello

    /// Gives a client the session that its hello requests.
    func greet(_ body: Span<UInt8>, of connection: Connection) -> Greeting {
        guard connection.isGreeting else { return .failed(.state, "a second hello") }
        let hello: Hello
        do throws(WireError) {
            hello = try Hello(wireBytes: body)
        } catch {
            return .failed(.decode, "hello: \(error)")
        }
        guard hello.versionMin <= Hello.version, hello.versionMax >= Hello.version else {
            return .otherVersion(
                "the client speaks versions \(hello.versionMin) to \(hello.versionMax), the daemon "
                    + "\(Hello.version)")
        }
        if let secret = hello.session, secret.count != Session.secretBytes {
            return .failed(
                .decode,
                "hello: session: \(secret.count) bytes, expected \(Session.secretBytes)")
        }
        chronicle.compare(hello, of: connection.peer)
        return giveSession(to: connection, hello)
    }

    private func giveSession(to connection: Connection, _ hello: Hello) -> Greeting {
        let uid = connection.peer.uid
        // An unknown user's number stands for different users.
        let isUnknown = connection.access != nil && uid == AccessRules.Subject.unknownUID
        guard let secret = hello.session, !isUnknown else {
            welcome(newSession(uid, secret: newSecret()), on: connection, hello, isResumed: false)
            return .welcomed
        }
        if let known = sessions.find(secret, uid: uid) {
            guard known.connection == nil else {
                return .failed(
                    .sessionBusy, "the session is in use by another connection: start a new one")
            }
            known.confirm(hello.confirmed)
            welcome(known, on: connection, hello, isResumed: true)
        } else if canAdopt(secret, hello) {
            // Its actions were lost before their commit; the client sends them again.
            welcome(newSession(uid, secret: secret), on: connection, hello, isResumed: true)
        } else {
            welcome(newSession(uid, secret: newSecret()), on: connection, hello, isResumed: false)
        }
        return .welcomed
    }

    /// Whether an unknown session is of this history and had no committed action: its client may
    /// send the lost actions again.
    private func canAdopt(_ secret: [UInt8], _ hello: Hello) -> Bool {
        hello.confirmed == 0 && hello.epoch == tree.turn.epoch && !sessions.isKnown(secret)
            && !sessions.ended.mayHold(secret, since: hello.since)
    }

    private func newSession(_ uid: UInt32, secret: [UInt8]) -> Session {
        let (session, evicted) = sessions.make(uid: uid, secret: secret, at: tree.turn.sequence)
        chronicle.record(evicted: evicted)
        return session
    }

    /// Adds the session of a client of another daemon.
    func adopt(_ client: RemoteClient) {
        let evicted = sessions.adopt(
            client: client.client, uid: client.uid, secret: client.secret, at: tree.turn.sequence)
        chronicle.record(evicted: evicted)
    }

    private func newSecret() -> [UInt8] {
        var secret: [UInt8] = []
        for _ in 0..<2 {
            var word = random()
            for _ in 0..<8 {
                secret.append(UInt8(truncatingIfNeeded: word))
                word >>= 8
            }
        }
        return secret
    }

    private func welcome(
        _ session: Session, on connection: Connection, _ hello: Hello, isResumed: Bool
    ) {
        sessions.join(session, connection.id)
        connection.open(session, program: hello.program)
        let welcome = Welcome(
            version: Hello.version, daemon: daemonName, epoch: tree.turn.epoch,
            sequence: tree.turn.sequence, session: session.secret, isResumed: isResumed,
            client: session.client, connection: connection.id.rawValue,
            ordinal: session.usedOrdinal,
            limits: Welcome.Limits(
                frameBytesMax: UInt32(limits.frameBytesMax),
                inFlightMax: UInt32(limits.inFlightMax),
                nodesMax: UInt32(limits.nodesPerConnectionMax),
                subscriptionsMax: UInt32(limits.subscriptionsPerConnectionMax)))
        delivery.reply(to: connection) { writer in
            let frame = writer.beginFrame(.welcome)
            welcome.encode(into: &writer)
            writer.endFrame(at: frame)
        }
    }

    // MARK: Goodbye

    /// Ends the session of a client that does not return.
    func sayGoodbye(_ connection: Connection) {
        // Only the leading daemon's rows end a session that the history has.
        if chronicle.isFollowing, connection.session?.isStored ?? false {
            leave(connection, at: 0)
        } else if let session = connection.takeSession() {
            if session.isStored { chronicle.record(.goodbye(client: session.client)) }
            sessions.end(session, at: tree.turn.sequence)
        }
        connection.outlet.value.detach()
    }

    /// Rejects the actions whose answers an ended connection waits for, as "owner ended".
    func endWaits(of connection: Connection) {
        guard let session = connection.session else { return }
        // An answer of this turn was given before the connection ended.
        outcomes.resolve()
        // A restart would end them again, but a daemon that follows does not.
        let waits = outcomes.isFollowed ? session.deferred.sorted() : []
        session.endConnection(limits.outcomes)
        record(outcomesOf: waits.map { (session, $0) })
    }

    /// Rejects the actions whose answers clients of the daemon `node` waited for that are gone.
    func endWaits(ofAbsent node: UInt8) {
        for session in sessions.absent(of: node) { endWaits(of: session) }
    }

    /// Rejects the actions whose answers a former connection of a session waited for.
    func endWaits(of session: Session) {
        guard !session.deferred.isEmpty else { return }
        let waits = session.deferred.sorted()
        session.endConnection(limits.outcomes)
        record(outcomesOf: waits.map { (session, $0) })
    }

    /// Ends the connections of all sessions but those of `clients`, as this daemon begins to lead.
    func lead(keeping clients: Set<UInt64>) -> [(session: Session, ordinal: UInt64)] {
        sessions.lead(limits, keeping: clients)
    }

    /// Records the outcomes of actions whose clients have stopped waiting.
    func record(outcomesOf actions: [(session: Session, ordinal: UInt64)]) {
        for (session, ordinal) in actions {
            guard let outcome = session.outcome(of: ordinal) else { continue }
            chronicle.record(outcome, of: ordinal, session)
        }
    }

    /// Keeps the session of an ended connection for its client's next one.
    func leave(_ connection: Connection, at now: UInt64) {
        guard let session = connection.takeSession() else { return }
        if chronicle.isFollowing { session.endOwners() }
        sessions.leave(session, at: now)
        chronicle.record(
            evicted: sessions.weigh(
                session, bytesMax: limits.outcomeBytesMax, at: tree.turn.sequence))
    }

    /// Drops a session for good: a client that resumes it gets another.
    func evict(_ session: Session) {
        guard sessions.mayEvict(session) else { return }
        sessions.end(session, at: tree.turn.sequence)
        if session.isStored { chronicle.record(evicted: [session]) }
    }

    /// Drops sessions without actions whose clients did not reconnect in time.
    func forgetBlank(at now: UInt64) {
        guard now > Self.blankSessionNanoseconds else { return }
        sessions.forgetBlank(before: now - Self.blankSessionNanoseconds)
    }
}
