/// A ``Transform`` at work in one node.
///
/// *Owner*: the tree's isolation.
final class TransformRun<Value: Sendable> {
    let stages: [Transform<Value>.Stage]
    let sources: [Transform<Value>.Source]
    /// Whether what comes out of it comes later.
    let isStreamed: Bool
    /// Whether what comes out of it is a matter of what went in last alone.
    let isOneForOne: Bool
    /// The ways into the streams, by stage.
    private var gates: [Int: StreamGate<Value>] = [:]
    /// The stages whose streams are at work.
    private var open: Set<Int> = []

    init(_ transform: Transform<Value>) {
        stages = transform.stages
        sources = transform.sources
        for (index, stage) in stages.enumerated() {
            if case .stream = stage { gates[index] = StreamGate() }
        }
        isStreamed = !gates.isEmpty
        isOneForOne = transform.isOneForOne
    }

    /// Sends `value` through the stages from the one numbered `first` on, and gives what comes out at
    /// once; `begin` begins the stream of a stage.
    ///
    /// *Throws*: ``Rejection`` if a stream has no room.
    func run(
        _ value: Value, from first: Int = 0, at path: SlicePath, _ turn: Turn,
        begin: (Int, StreamGate<Value>) -> Bool
    ) throws(Rejection) -> [Value] {
        var values = [value]
        for index in stages.indices.dropFirst(first) {
            switch stages[index] {
            case .map(let change): values = values.map(change)
            case .each(let change): values = values.flatMap(change)
            case .stream:
                for value in values { try send(value, to: index, at: path, turn, begin: begin) }
                return []
            }
            if values.isEmpty { return [] }
        }
        return values
    }

    // because what is refused in the end is not to come out of a stream all the same
    private func send(
        _ value: Value, to stage: Int, at path: SlicePath, _ turn: Turn,
        begin: (Int, StreamGate<Value>) -> Bool
    ) throws(Rejection) {
        guard let gate = gates[stage] else { return }
        guard gate.reserve() else {
            throw Rejection(
                .busy, "\(path): \(CoreLimits.streamedValuesMax) values wait for a stream, the most"
            )
        }
        guard beginStream(stage, begin) else {
            gate.release()
            throw Rejection(.busy, "\(path): no room for another stream: try again")
        }
        turn.whenCommitted {
            gate.push(value)
        } orElse: {
            gate.release()
        }
    }

    /// Begins the streams that are not at work.
    func beginStreams(_ begin: (Int, StreamGate<Value>) -> Bool) {
        for stage in gates.keys.sorted() { _ = beginStream(stage, begin) }
    }

    private func beginStream(_ stage: Int, _ begin: (Int, StreamGate<Value>) -> Bool) -> Bool {
        guard let gate = gates[stage], open.insert(stage).inserted else { return true }
        gate.noteReader()
        if begin(stage, gate) { return true }
        open.remove(stage)
        return false
    }

    /// The stream of a stage has ended: another begins with the next value, which may wait already.
    func closed(_ stage: Int, begin: (Int, StreamGate<Value>) -> Bool) {
        open.remove(stage)
        // because one that ends without having read anything would end again
        if gates[stage]?.isWanted ?? false { _ = beginStream(stage, begin) }
    }
}
