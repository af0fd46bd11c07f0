import ReactorCore
import ReactorWire

// MARK: - A history that has lost its end
extension Server {
    /// Takes note that a client knows more of the epoch than the history holds, and begins another
    /// epoch once the turn has ended.
    ///
    /// A client learns a revision once it is committed. A client with a later revision than this
    /// run of the daemon has committed learned it from an earlier run, so only an epoch that was
    /// inherited can be contradicted: a client that lies costs one epoch in a run of the daemon.
    func contradict(_ connection: Connection, _ claim: @autoclosure () -> String) {
        guard isEpochInherited else { return }
        stats.historyContradicted &+= 1
        guard !isEpochWanted else { return }
        isEpochWanted = true
        outputs.append(.log(.contradicted(connection.peer, claim())))
    }

    /// Contradicts the history where a subscriber comes back from a later revision.
    func compare(_ from: Revision?, of connection: Connection) {
        guard let from, isAhead(from) else { return }
        contradict(
            connection, "a subscriber comes back from \(from), the history ends at \(tree.revision)"
        )
    }

    /// Whether a revision is of this epoch and later than the present.
    func isAhead(_ revision: Revision) -> Bool {
        revision.epoch == tree.turn.epoch && revision.sequence > tree.turn.sequence
    }

    /// Contradicts the history where a client knows an action to be applied that its session has
    /// not seen, or the session is of a later revision.
    ///
    /// Other outcomes prove nothing: an action that is refused on a full disk is not kept.
    func compare(_ hello: Hello, of connection: Connection) {
        guard let secret = hello.session, hello.epoch ?? tree.turn.epoch == tree.turn.epoch else {
            return
        }
        if let session = sessions.find(secret, uid: connection.peer.uid),
            hello.applied > session.ordinal
        {
            contradict(
                connection,
                "the action \(hello.applied) of client \(session.client) was applied, the history "
                    + "holds its actions up to \(session.ordinal)")
        } else if let epoch = hello.epoch, let since = hello.since,
            isAhead(Revision(epoch: epoch, sequence: since))
        {
            contradict(
                connection,
                "a session began at sequence \(since), the history ends at \(tree.revision)")
        }
    }

    /// Begins another epoch, and cuts every connection.
    ///
    /// The shell ends another turn, whose batch carries the epoch to the journal, and no client is
    /// welcomed to the epoch before that batch is kept. A snapshot is of one epoch, so it ends first.
    func beginEpoch() {
        guard !isReadOnly, snapshot?.isEnded ?? true else { return }
        isEpochWanted = false
        isEpochInherited = false
        tree.beginEpoch(random())
        ring.removeAll()
        note(.layout(tree.takeLayout()))
        outputs.append(.cutConnections)
    }
}
