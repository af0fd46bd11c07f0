import ReactorBytes
import ReactorCore
import ReactorWire

/// Gives clients their sessions: a new one, the one they had, or one whose actions were lost before
/// they were committed.
///
/// *Place*: ``Intake`` hands it hello and goodbye, and the server calls it for connections that have
/// ended. *Shape*: one connection at a time speaks for a session. It has no state of its own: the
/// sessions state their invariants.
final class Handshake {
    private let tree: Tree
    /// All sessions.
    let sessions: SessionTable
    private let chronicle: Chronicle
    private let outcomes: OutcomeWriter
    private let delivery: Delivery
    private let limits: ServerLimits
    /// Name and version, for the welcome.
    private let daemonName: String
    /// Yields random 64-bit numbers.
    let random: () -> UInt64

    /// The result of a hello.
    enum Greeting {
        /// The client has a session and its welcome.
        case welcomed
        /// The connection is closed for a fault of its client.
        case failed(FaultCode, String)
        /// The client speaks no version that the daemon speaks.
        case otherVersion(String)
    }

    /// For how long a session without actions waits for its client to come back.
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

    // MARK: Hello

    /// Gives a client the session that its hello asks for.
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
        guard let secret = hello.session else {
            welcome(newSession(uid, secret: newSecret()), on: connection, isResumed: false)
            return .welcomed
        }
        if let known = sessions.find(secret, uid: uid) {
            guard known.connection == nil else {
                return .failed(
                    .sessionBusy, "the session is in use by another connection: start a new one")
            }
            known.confirm(hello.confirmed)
            welcome(known, on: connection, isResumed: true)
        } else if canAdopt(secret, hello) {
            // Its actions were lost before they were committed; the client sends them again.
            welcome(newSession(uid, secret: secret), on: connection, isResumed: true)
        } else {
            welcome(newSession(uid, secret: newSecret()), on: connection, isResumed: false)
        }
        return .welcomed
    }

    /// Whether an unknown session is of this history and had no committed action: its client may send
    /// again what was lost.
    private func canAdopt(_ secret: [UInt8], _ hello: Hello) -> Bool {
        hello.confirmed == 0 && hello.epoch == tree.turn.epoch && !sessions.isKnown(secret)
            && !sessions.ended.mayHold(secret, since: hello.since)
    }

    private func newSession(_ uid: UInt32, secret: [UInt8]) -> Session {
        let (session, evicted) = sessions.make(uid: uid, secret: secret, at: tree.turn.sequence)
        chronicle.record(evicted: evicted)
        return session
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

    private func welcome(_ session: Session, on connection: Connection, isResumed: Bool) {
        sessions.join(session, connection.id)
        connection.open(session)
        let welcome = Welcome(
            version: Hello.version, daemon: daemonName, epoch: tree.turn.epoch,
            sequence: tree.turn.sequence, session: session.secret, isResumed: isResumed,
            client: session.client, connection: connection.id.rawValue, ordinal: session.ordinal,
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

    /// Ends the session of a client that leaves for good.
    func sayGoodbye(_ connection: Connection) {
        if let session = connection.takeSession() {
            if session.isStored { chronicle.record(.goodbye(client: session.client)) }
            sessions.end(session, at: tree.turn.sequence)
        }
        connection.outlet.value.detach()
    }

    /// Keeps the session of a connection that has ended for the client's next connection.
    func leave(_ connection: Connection, at now: UInt64) {
        guard let session = connection.takeSession() else { return }
        sessions.leave(session, at: now)
        // An answer that the turn has given is not replaced by "owner ended".
        outcomes.resolve()
        session.endConnection(limits.outcomes)
        chronicle.record(
            evicted: sessions.weigh(
                session, bytesMax: limits.outcomeBytesMax, at: tree.turn.sequence))
    }

    /// Forgets sessions without actions whose clients did not come back in time.
    func forgetBlank(at now: UInt64) {
        guard now > Self.blankSessionNanoseconds else { return }
        sessions.forgetBlank(before: now - Self.blankSessionNanoseconds)
    }
}
