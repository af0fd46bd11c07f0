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
        while endings.value.start() {
            var index = 0
            // because what an ending lists stands in the other list
            while index < endings.value.atWork.count {
                endings.value.atWork[index].endTurn()
                index &+= 1
            }
        }
    }
}

/// Who is listed for the end of the turn, and who is at work on it.
struct TurnEndings {
    var listed: [any TurnEnding] = []
    var atWork: [any TurnEnding] = []

    /// Puts those who are listed to work; answers false where nobody is.
    mutating func start() -> Bool {
        atWork.removeAll(keepingCapacity: true)
        if listed.isEmpty { return false }
        swap(&listed, &atWork)
        return true
    }
}
