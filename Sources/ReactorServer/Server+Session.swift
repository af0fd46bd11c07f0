import ReactorCore
import ReactorWire

// MARK: - Handshake
extension Server {
    func greet(_ body: Span<UInt8>, of connection: Connection) {
        guard connection.stage == .greeting else {
            return fail(connection, .state, "a second hello")
        }
        let hello: Hello
        do throws(WireError) {
            hello = try Hello(wireBytes: body)
        } catch {
            return fail(connection, .decode, "hello: \(error)")
        }
        guard hello.versionMin <= Hello.version, hello.versionMax >= Hello.version else {
            return refuseVersion(hello, of: connection)
        }
        if let secret = hello.session, secret.count != Session.secretBytes {
            let text = "hello: session: \(secret.count) bytes, expected \(Session.secretBytes)"
            return fail(connection, .decode, text)
        }
        compare(hello, of: connection)
        var isResumed = false
        var session: Session?
        if let secret = hello.session, let known = sessions.find(secret, uid: connection.peer.uid) {
            guard known.connection == nil else {
                return fail(
                    connection, .sessionBusy,
                    "the session is in use by another connection: start a new one")
            }
            known.confirm(hello.confirmed)
            session = known
            isResumed = true
        } else if let secret = hello.session, canAdopt(secret, hello) {
            // because what it sent before came to nothing, and is to be carried out now
            session = newSession(connection.peer.uid, secret: secret)
            isResumed = true
        }
        start(session ?? newSession(connection.peer.uid), on: connection, isResumed: isResumed)
    }

    /// Whether an unknown session is one of this history that never had an action here: so that what
    /// its client sent, and what was lost before it was committed, can be sent again.
    private func canAdopt(_ secret: [UInt8], _ hello: Hello) -> Bool {
        hello.confirmed == 0 && hello.epoch == tree.turn.epoch
            && !sessions.isKnown(secret)
            && !sessions.ended.mayHold(secret, since: hello.since)
    }

    private func refuseVersion(_ hello: Hello, of connection: Connection) {
        let text =
            "the client speaks versions \(hello.versionMin) to \(hello.versionMax), the daemon "
            + "\(Hello.version)"
        stats.faults &+= 1
        tell(connection.peer, .version) {
            .closedForFault(connection.id, connection.peer, .version, text, leftOut: $0)
        }
        close(
            connection,
            Closing(.version, text, versionMin: Hello.version, versionMax: Hello.version))
    }

    private func newSession(_ uid: UInt32, secret: [UInt8]? = nil) -> Session {
        let (session, evicted) = sessions.make(
            uid: uid, secret: secret ?? newSecret(), at: tree.turn.sequence)
        for session in evicted { note(.evicted(client: session.client)) }
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

    private func start(_ session: Session, on connection: Connection, isResumed: Bool) {
        sessions.join(session, connection)
        connection.session = session
        connection.stage = .open
        silent.leave(connection.id, of: connection.peer.uid)
        connection.caller = Caller(
            connection: connection.id.rawValue, client: session.client, uid: connection.peer.uid,
            gid: connection.peer.gid, pid: connection.peer.pid)
        let welcome = Welcome(
            version: Hello.version, daemon: daemonName, epoch: tree.turn.epoch,
            sequence: tree.turn.sequence, session: session.secret, isResumed: isResumed,
            client: session.client, connection: connection.id.rawValue, ordinal: session.ordinal,
            limits: Welcome.Limits(
                frameBytesMax: UInt32(limits.frameBytesMax),
                inFlightMax: UInt32(limits.inFlightMax),
                nodesMax: UInt32(limits.nodesPerConnectionMax),
                subscriptionsMax: UInt32(limits.subscriptionsPerConnectionMax)))
        reply(to: connection) { writer in
            let frame = writer.beginFrame(.welcome)
            welcome.encode(into: &writer)
            writer.endFrame(at: frame)
        }
    }

    /// Forgets the session of a client that leaves for good.
    func sayGoodbye(_ connection: Connection) {
        if let session = connection.session {
            if session.isStored { note(.goodbye(client: session.client)) }
            sessions.end(session, at: tree.turn.sequence)
            session.connection = nil
            connection.session = nil
        }
        connection.isBehind = false
        beginClosing(connection)
    }

    /// Appends a frame to the turn's replies, for one connection.
    func reply(to connection: Connection, _ write: (inout WireWriter) -> Void) {
        let start = replies.count
        write(&replies)
        connection.pending.replies.append(start..<replies.count)
        count(replies.count - start, of: connection)
    }

    func refuse(_ header: FrameHeader, _ refusal: Refusal, of connection: Connection) {
        reply(to: connection) { writer in
            var refusal = refusal
            refusal.message = refusal.message.cut(to: limits.messageBytesMax)
            let frame = writer.beginFrame(.refused, id: header.id, number: header.number)
            refusal.encode(into: &writer)
            writer.endFrame(at: frame)
        }
    }

    /// Counts bytes that a connection must take, and stops reading from it where they are many.
    func count(_ byteCount: Int, of connection: Connection) {
        connection.pending.controlBytes += byteCount
        if connection.queuedControlBytes + connection.pending.controlBytes
            > limits.undrainedBytesMax
        {
            pauseReading(connection)
        }
        note(connection)
    }

    /// Lists a connection as one that the turn has something for.
    func note(_ connection: Connection) {
        if connection.notedTurn != turnNumber {
            connection.notedTurn = turnNumber
            noted.append(connection)
        }
    }
}
