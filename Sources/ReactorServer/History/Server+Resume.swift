import ReactorBytes
import ReactorCore
import ReactorWire

/// What a journal answered of what a client missed.
struct OlderDeltas {
    /// The frames, in order; nil where the journal does not have them all any more.
    var frames: [UInt8]?
    /// They go up to this sequence.
    var upTo: UInt64
}

/// A subscription that waits for the journal.
struct ParkedRequest {
    var connection: ConnectionID
    var uid: UInt32
    var header: FrameHeader
    var request: Subscribe
    var upTo: UInt64
}

// MARK: - Coming back from further than memory goes
extension Server {
    /// Parks a subscription whose client missed more than memory holds, and has the journal asked.
    func asksHistory(
        of node: AnyNode, _ request: Subscribe, _ header: FrameHeader, _ connection: Connection
    ) -> Bool {
        guard keepsHistory, request.mode == .replica, !connection.isLagging,
            let from = request.from, from.epoch == tree.turn.epoch,
            from.sequence < node.sequence, node.birthSequence <= from.sequence,
            from.sequence < ring.start ?? turnStart,
            hasRoomToPark(for: connection.peer.uid)
        else { return false }
        lastQuestion += 1
        let upTo = ring.start ?? turnStart
        parked[lastQuestion] = ParkedRequest(
            connection: connection.id, uid: connection.peer.uid, header: header,
            request: request, upTo: upTo)
        connection.parkedCount += 1
        outputs.append(
            .readHistory(
                HistoryQuestion(
                    number: lastQuestion, uid: connection.peer.uid, node: node.number,
                    epoch: from.epoch, after: from.sequence, upTo: upTo,
                    byteCountMax: limits.resumeBytesMax)))
        return true
    }

    /// Whether one more subscription of a user may wait: one user leaves half of the places to others.
    private func hasRoomToPark(for uid: UInt32) -> Bool {
        guard parked.count < limits.parkedRequestsMax else { return false }
        let own = parked.values.count { $0.uid == uid }
        return own < (limits.parkedRequestsMax + 1) / 2
    }

    /// Gives up what a connection that has gone has parked.
    func forgetParked(of connection: Connection) {
        guard connection.parkedCount > 0 else { return }
        connection.parkedCount = 0
        parked = parked.filter { $0.value.connection != connection.id }
    }

    /// Goes on counting questions where a server left off whose answers may still come.
    ///
    /// An epoch that the server before began itself is known to no client of an earlier run.
    public func succeed(_ former: Server) {
        lastQuestion = former.lastQuestion
        isEpochInherited = isEpochInherited && former.isEpochInherited
        stats = former.stats
    }

    /// The journal's answer to question `number`: the frames that were asked for, or nil where it does
    /// not have them all; the subscription goes on with them, or with a snapshot.
    public func answer(_ number: UInt64, with frames: [UInt8]?, at now: UInt64) {
        self.now = now
        guard let request = parked.removeValue(forKey: number),
            let connection = desk.value.connections[request.connection]
        else { return }
        connection.parkedCount -= 1
        guard !connection.isClosing else { return }
        // because the node may have gone since, or another come
        switch find(request.request.path) {
        case .failure(let refusal): refuse(request.header, refusal, of: connection)
        case .success((let node, let field)):
            follow(
                node, field, request.request, request.header, connection,
                older: OlderDeltas(frames: frames, upTo: request.upTo))
        }
    }

    /// The frames that a client missed of a node, from memory and from what the journal answered.
    func missedFrames(
        of node: AnyNode, after sequence: UInt64, _ older: OlderDeltas?
    ) -> [UInt8]? {
        if let frames = ring.frames(of: node.number, after: sequence, upTo: turnStart) {
            return frames
        }
        guard let older, var frames = older.frames,
            let rest = ring.frames(of: node.number, after: older.upTo, upTo: turnStart)
        else { return nil }
        frames.append(contentsOf: rest)
        return frames.count <= limits.resumeBytesMax ? frames : nil
    }
}
