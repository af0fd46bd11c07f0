/// A ``Transform`` at work in one node.
///
/// *Owner*: the tree's isolation.
final class TransformRun<Value: Sendable> {
    let stages: [Transform<Value>.Stage]
    let sources: [Transform<Value>.Source]
    /// The ways into the streams that are open, by stage.
    private var inputs: [Int: AsyncStream<Value>.Continuation] = [:]

    init(_ transform: Transform<Value>) {
        stages = transform.stages
        sources = transform.sources
        isStreamed = stages.contains { stage in
            if case .stream = stage { true } else { false }
        }
    }

    deinit {
        for input in inputs.values { input.finish() }
    }

    /// Whether what comes out of it comes later.
    let isStreamed: Bool

    /// Sends `value` through the stages from the one numbered `first` on, and gives what comes out at
    /// once; `open` begins the stream of a stage.
    ///
    /// *Throws*: ``Rejection`` if a stream has no room.
    func run(
        _ value: Value, from first: Int = 0, at path: SlicePath,
        open: (Int, AsyncStream<Value>) -> Void
    ) throws(Rejection) -> [Value] {
        var values = [value]
        for index in stages.indices.dropFirst(first) {
            switch stages[index] {
            case .each(let change): values = values.flatMap(change)
            case .stream:
                for value in values { try send(value, to: index, at: path, open: open) }
                return []
            }
            if values.isEmpty { return [] }
        }
        return values
    }

    private func send(
        _ value: Value, to stage: Int, at path: SlicePath,
        open: (Int, AsyncStream<Value>) -> Void
    ) throws(Rejection) {
        if let input = inputs[stage] {
            switch input.yield(value) {
            case .enqueued: return
            case .terminated: break
            default:
                throw Rejection(
                    .busy,
                    "\(path): \(CoreLimits.streamedValuesMax) values wait for a stream, the most")
            }
        }
        let (stream, input) = AsyncStream.makeStream(
            of: Value.self, bufferingPolicy: .bufferingOldest(CoreLimits.streamedValuesMax))
        inputs[stage] = input
        open(stage, stream)
        input.yield(value)
    }

    /// The stream of a stage has ended: the next value begins another.
    func closed(_ stage: Int) {
        inputs.removeValue(forKey: stage)?.finish()
    }
}
