import ReactorCore
import ReactorThreads

// MARK: - News of actions
extension ClientMachine {
    /// The daemon has news of an action whose outcome it told before.
    func note(_ notice: Notice, _ ordinal: UInt64) {
        let origin = Origin(client: welcome?.client ?? 0, ordinal: ordinal)
        board.news.add(ClientNotice(notice, of: origin))
        onNotice?(ordinal, notice)
    }
}

// MARK: - Lost pasts
extension ClientMachine {
    /// Looks whether the daemon that answers has the past that is known here.
    func noteHistory(_ greeting: Welcome) {
        if let known = welcome, known.epoch != greeting.epoch {
            // because one that was not told yet was known longer
            let shown = revision.epoch == known.epoch ? revision.sequence : 0
            let last = Revision(epoch: known.epoch, sequence: max(lastSequence, shown))
            lostPast = lostPast ?? last
            lastSequence = 0
        }
        lastSequence = max(lastSequence, greeting.sequence)
    }

    /// Tells that a part of the past is lost, as soon as every mirror shows what is left.
    func tellLostPast() {
        guard let from = lostPast, stage == .live else { return }
        let epoch = welcome?.epoch ?? 0
        var to = Revision(epoch: epoch, sequence: welcome?.sequence ?? 0)
        if subscriptions.contains(where: { $0.wasLive }) {
            guard revision.epoch == epoch else { return }
            to = revision
        }
        lostPast = nil
        board.statistics.withLock { $0.rollbacks += 1 }
        board.news.add(.rolledBack(from: from, to: to))
        onRollback?(from, to)
    }
}
