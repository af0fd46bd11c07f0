package import ReactorCluster
package import ReactorJournal
package import ReactorServer

/// What a ``ClusterMember`` needs of the program around it: a daemon, or a simulation.
///
/// *Owner*: the loop's thread.
package protocol ClusterHost: AnyObject {
    /// The server that leads or follows.
    var server: Server { get }
    /// A time in nanoseconds that only grows.
    var now: UInt64 { get }
    /// The wall clock in milliseconds since 1970.
    var wallClock: Int64 { get }

    /// Whether the actions of other nodes' clients are carried out here while this node leads.
    var forwards: Bool { get }

    /// Ends the server's turn, and carries out what it orders. Batches go to
    /// ``ClusterMember/append(_:)``.
    func endTurn()

    /// Ends the server's turn soon: it has something to send.
    func turnSoon()

    /// Stores rows that the log has, in one commit with `words`, from which a start continues.
    func store(_ rows: [JournalRow], log words: [UInt64])

    /// Runs no job of the server until ``recover()``: it hands over.
    func holdJobs()

    /// The server's turn `turn` has the row `number`: a snapshot that begins with the end of the turn
    /// is one of that row.
    func note(turn: UInt64, hasRow number: UInt64)

    /// Closes every connection, recovers a following server from all stored rows, and replaces the
    /// current server by it. The new server is cut off. Returns the position after the last stored
    /// row, or nil if the program ends instead.
    func recover() throws(DaemonError) -> JournalPosition?

    /// Calls ``ClusterMember/tick()`` at `time`, or soon after it. A later request replaces this one.
    func planTick(at time: UInt64)

    /// The member reports something.
    func take(_ news: ClusterNews)
}

/// What a ``ClusterMember`` reports to the program around it.
package enum ClusterNews: Sendable {
    /// The server has begun to lead, in a turn that is not ended yet.
    case leads(term: UInt64)
    /// The server no longer leads: it was replaced, or the program ends.
    case ceased(term: UInt64)
    /// Another node leads; nil if none is known.
    case leader(ClusterNode?)
    /// The server serves no client, or serves clients again.
    case cut(Bool)
    /// The engine does not answer; nil if it answers again.
    case outage(EngineOutage?)
    /// The connection to the engine ended.
    case disconnected(String)
    /// The disk has no space for the rows of the log, with the reason; nil if it has room again.
    case disk(String?)
    /// The program must end.
    case stop(DaemonError)
}
