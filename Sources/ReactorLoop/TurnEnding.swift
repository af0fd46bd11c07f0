import ReactorBytes

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
    public func atTurnEnd(_ work: any TurnEnding) { endings.value.listed.append(work) }

    /// Runs what is listed, and what that lists.
    func runEndings() {
        while !endings.value.listed.isEmpty {
            var work = endings.value.take()
            for ending in work { ending.endTurn() }
            // because what goes with it may list others: no access is open here
            work.removeAll(keepingCapacity: true)
            endings.value.spare = work
        }
    }
}

/// Who is listed for the end of the turn.
struct TurnEndings {
    var listed: [any TurnEnding] = []
    /// An empty list with room, to be used again.
    var spare: [any TurnEnding] = []

    /// Takes out those who are listed.
    mutating func take() -> [any TurnEnding] {
        let taken = listed
        listed = spare
        spare = []
        return taken
    }
}
