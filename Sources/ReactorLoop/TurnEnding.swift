/// Somebody who has something to do at the end of a turn, now and then.
public protocol TurnEnding: AnyObject {
    /// Runs once for each time it was listed.
    func endTurn()
}

extension EventLoop {
    /// Lists `work` to run once at the end of this turn, or, when called between two turns, at the
    /// beginning of the next, before that waits.
    ///
    /// *Place*: for what many share a loop with: only who has something to do is asked.
    /// *Owner*: the loop's thread.
    public func atTurnEnd(_ work: any TurnEnding) { endings.append(work) }

    /// Runs what is listed, and what that lists.
    func runEndings() {
        if endings.isEmpty { return }
        while !endings.isEmpty {
            swap(&endings, &endingsAtWork)
            for work in endingsAtWork { work.endTurn() }
            endingsAtWork.removeAll(keepingCapacity: true)
        }
    }
}
