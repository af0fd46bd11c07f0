/// An object with occasional work at the end of a turn.
package protocol TurnEnding: AnyObject {
    /// Called at the end of a turn, once for each time the object was listed.
    func endTurn()
}

/// The work listed for the end of the turn.
struct TurnEndings {
    var listed: [any TurnEnding] = []
    /// An empty list with capacity, for reuse.
    var spare: [any TurnEnding] = []

    /// Takes the listed work.
    mutating func take() -> [any TurnEnding] {
        let taken = listed
        listed = spare
        spare = []
        return taken
    }
}
