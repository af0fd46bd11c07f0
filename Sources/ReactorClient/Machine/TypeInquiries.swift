import ReactorCore

/// The questions about types on this connection, and the sinks that follow nothing before their
/// answers.
///
/// *Place*: a part of ``Following``, which asks before a mirror follows a value.
struct TypeInquiries {
    /// A sink that waits for the types of the node at its path.
    private struct Waiting {
        var path: String
        var sink: any SliceSink
        /// True if the sink shows a state: no mirror advances without it then.
        var wasLive: Bool
    }

    private var waiting: [Waiting] = []
    /// Paths whose types this connection's daemon was asked for.
    private var asked: Set<String> = []

    /// True while a sink that shows a state waits.
    var isHolding: Bool { waiting.contains(where: \.wasLive) }
    var isEmpty: Bool { waiting.isEmpty }
    var sinks: [any SliceSink] { waiting.map(\.sink) }

    /// The sinks that wait for the types at `path`.
    func sinks(at path: String) -> [any SliceSink] {
        waiting.filter { $0.path == path }.map(\.sink)
    }

    /// Makes a sink wait for the types at its path.
    mutating func enqueue(_ sink: any SliceSink, at path: String, wasLive: Bool) {
        waiting.append(Waiting(path: path, sink: sink, wasLive: wasLive))
    }

    /// Records a question; returns false if it was asked on this connection and is not answered.
    mutating func ask(_ path: String) -> Bool { asked.insert(path).inserted }

    /// The paths, of those that `isMeant` accepts, whose types are to be asked for.
    mutating func askAll(where isMeant: (String) -> Bool) -> [String] {
        waiting.map(\.path).filter { isMeant($0) && ask($0) }
    }

    /// Ends a question; returns the sinks that waited for its answer.
    mutating func conclude(_ path: String) -> [(sink: any SliceSink, wasLive: Bool)] {
        asked.remove(path)
        return dismiss { $0 == path }
    }

    /// Handles a lost connection: its questions get no answer.
    mutating func suspend() { asked = [] }

    /// Stops holding other mirrors for sinks whose slices may never become current.
    mutating func stopHolding(where isMeant: (String) -> Bool) {
        for index in waiting.indices where isMeant(waiting[index].path) {
            waiting[index].wasLive = false
        }
    }

    mutating func leave(_ sink: any SliceSink) { waiting.removeAll { $0.sink === sink } }

    /// Removes the sinks at the paths that `isMeant` accepts.
    mutating func dismiss(
        where isMeant: (String) -> Bool
    ) -> [(sink: any SliceSink, wasLive: Bool)] {
        let taken = waiting.filter { isMeant($0.path) }
        waiting.removeAll { isMeant($0.path) }
        return taken.map { ($0.sink, $0.wasLive) }
    }
}
