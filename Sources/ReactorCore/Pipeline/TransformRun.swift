/// A ``Transform`` in one node, with the state of its streams.
///
/// *Owner*: the tree's isolation.
final class TransformRun<Value: Sendable> {
    let stages: [Transform<Value>.Stage]
    let sources: [Transform<Value>.Source]
    /// Whether it contains a stream, so that outputs come later.
    let isStreamed: Bool
    /// Whether each output depends on the current input alone.
    let isOneForOne: Bool
    /// The queues in front of the streams, by stage.
    private var gates: [Int: StreamGate<Value>] = [:]
    /// The stages whose streams run.
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

    /// Sends `value` through the stages from `first` on, and returns the immediate outputs; `begin`
    /// starts the stream of a stage.
    ///
    /// *Throws*: ``Rejection`` if the queue of a stream is full.
    func process(
        _ value: Value, from first: Int = 0, at path: SlicePath, _ commits: some CommitQueue,
        begin: (Int, StreamGate<Value>) -> Bool
    ) throws(Rejection) -> [Value] {
        var values = [value]
        for index in stages.indices.dropFirst(first) {
            switch stages[index] {
            case .map(let change): values = values.map(change)
            case .each(let change): values = values.flatMap(change)
            case .stream:
                for value in values { try send(value, to: index, at: path, commits, begin: begin) }
                return []
            }
            if values.isEmpty { return [] }
        }
        return values
    }

    // Queued at the commit: a value of a refused action must not come out of a stream.
    private func send(
        _ value: Value, to stage: Int, at path: SlicePath, _ commits: some CommitQueue,
        begin: (Int, StreamGate<Value>) -> Bool
    ) throws(Rejection) {
        guard let gate = gates[stage] else { return }
        guard gate.reserve() else {
            throw Rejection(
                .busy, "\(path): \(CoreLimits.streamedValuesMax) values await a stream, the limit"
            )
        }
        guard beginStream(stage, begin) else {
            gate.release()
            throw Rejection(.busy, "\(path): no room for another stream: try again")
        }
        commits.whenCommitted {
            gate.push(value)
        } orElse: {
            gate.release()
        }
    }

    /// Starts the streams that do not run.
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

    /// Handles the end of a stage's stream: the next value starts it again, even one that waits
    /// already.
    func closed(_ stage: Int, begin: (Int, StreamGate<Value>) -> Bool) {
        open.remove(stage)
        // A stream that ended without reading would end again at once.
        if gates[stage]?.isWanted ?? false { _ = beginStream(stage, begin) }
    }
}

/// Runs jobs at the commit of the transaction in progress.
protocol CommitQueue {
    /// Runs `job` once the transaction is committed, or `withdraw` if it is refused.
    func whenCommitted(_ job: @escaping () -> Void, orElse withdraw: (() -> Void)?)
}
