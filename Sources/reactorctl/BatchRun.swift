import ReactorClient
import ReactorCore
import ReactorLoop
import ReactorWire

/// Sends the actions of a batch and prints their outcomes.
struct BatchRun {
    /// The conditions and the moment of the outcomes.
    struct Options {
        var expected: Revision?
        var ack: AckLevel?
        var awaitsEffects: Bool

        /// The conditions that travel with an action; nil without any.
        var conditions: DispatchOptions? {
            expected == nil && ack == nil ? nil : DispatchOptions(expected: expected, ack: ack)
        }
    }

    private let text: BatchText
    private let options: Options
    private let timeout: TimeoutOption

    /// Actions that go to the client at once.
    private static let chunkCount = 512
    /// Bytes of a batch's frame besides its actions: for the batch, and for each action.
    private static let frameBytes = 64
    private static let itemBytes = 6

    init(_ text: BatchText, _ options: Options, _ timeout: TimeoutOption) {
        self.text = text
        self.options = options
        self.timeout = timeout
    }

    /// The line and the path of an action.
    private func place(of item: BatchText.Item) -> String {
        "line \(item.line), \(text.paths[item.path])"
    }
}

// MARK: - Actions by themselves
extension BatchRun {
    /// Sends each action as a transaction of its own; prints a line for each outcome, and a summary.
    ///
    /// *Throws*: with code 1, or the code of its rejection, if an action was not applied; with code
    /// 74 if standard output was closed, which ends the sending.
    func sendEach(_ client: Client) async throws {
        let outcomes = OutcomeCounter(isEach: true, hasSummary: true)
        let (items, paths) = (text.items, text.paths)
        let pipeline = try await Failure.explain { () throws(ClientError) in
            try await client.pipeline(
                paths, options.conditions, awaitsEffects: options.awaitsEffects
            ) { number, outcome in
                let item = items[Int(number)]
                outcomes.add(outcome) { outcome.json(line: item.line, path: paths[item.path]) }
            }
        }
        let limits = [timeout.begin(outcomes), timeout.watch(client) { outcomes.endEarly(nil) }]
        defer { for limit in limits { limit?.cancel() } }
        SignalWatch.start { signal in outcomes.endEarly("stopped by \(signal)") }
        do {
            try await send(through: pipeline, outcomes)
            try await Failure.explain { () throws(ClientError) in try await client.drain() }
            Output.progress("")
            try outcomes.checkOutput()
        } catch let closed as Output.Closed where closed.reason == nil {
            throw Failure(
                Failure.outputCode,
                "standard output was closed before all outcomes were printed, \(outcomes.progress)")
        } catch let failure as Failure {
            outcomes.endEarly(nil)
            throw failure
        }
        client.close()
        try Output.result(outcomes.finish(), outcomes.failure)
    }

    private func send(through pipeline: Pipeline, _ outcomes: OutcomeCounter) async throws {
        var rest = text.items[...]
        while !rest.isEmpty {
            let chunk = rest.prefix(Self.chunkCount)
            rest = rest.dropFirst(Self.chunkCount)
            outcomes.addSent(UInt64(chunk.count))
            do throws(ClientError) {
                try await pipeline.send(chunk.map(\.action.bytes), to: chunk.map(\.path))
            } catch {
                throw Failure(error)
            }
            Output.progress("\(outcomes.count) of \(text.items.count) actions")
            try outcomes.checkOutput()
        }
    }
}

// MARK: - One transaction
extension BatchRun {
    /// Sends all actions as one transaction, and prints the outcome.
    ///
    /// *Throws*: if they were not applied: with code 1, or the code of the rejection; with code 65
    /// if they exceed a limit of the daemon.
    func sendAtomically(_ client: Client) async throws {
        guard !text.items.isEmpty else {
            client.close()
            return try Output.line(WireValue.json(object: ["outcome": "applied", "count": 0]))
        }
        try await checkLimits(client)
        SignalWatch.start { signal in
            Output.complain(
                "stopped by \(signal) before the batch had an outcome: check the state before you "
                    + "try again")
        }
        let outcome = try await Failure.explain { () throws(ClientError) in
            try await client.atomically(
                under: options.conditions, awaitsEffects: options.awaitsEffects
            ) { batch in
                for item in text.items {
                    batch.send(item.action, to: text.paths[item.path])
                }
            }
        }
        client.close()
        try Output.result(json(outcome), failure(outcome))
    }

    /// Compares the batch with the daemon's limits, which would close the connection.
    private func checkLimits(_ client: Client) async throws(Failure) {
        let limits = try await Failure.explain { () throws(ClientError) in
            try await client.limits()
        }
        let remedy = "divide it, or send it without --atomic"
        if let countMax = limits["batchActionsMax"], text.items.count > countMax {
            throw Failure(
                Failure.badActionCode,
                "the batch has \(text.items.count) actions, the daemon takes at most batchActionsMax "
                    + "\(countMax) in a transaction: \(remedy)")
        }
        let byteCount = text.items.reduce(Self.frameBytes) {
            $0 + $1.action.bytes.count + Self.itemBytes
        }
        let byteCountMax = Int(client.welcome.limits.frameBytesMax)
        guard byteCount <= byteCountMax else {
            throw Failure(
                Failure.badActionCode,
                "the batch has \(byteCount) bytes, the daemon takes at most frameBytesMax "
                    + "\(byteCountMax) in a transaction: \(remedy)")
        }
    }

    private func json(_ outcome: BatchOutcome) -> String {
        if let refused = outcome.refused {
            let item = text.items[refused.index]
            return WireValue.json(object: [
                "outcome": "rejected", "line": .number(UInt64(item.line)),
                "path": .text(text.paths[item.path]), "code": .text(refused.rejection.code),
                "message": .text(refused.rejection.message),
            ])
        }
        guard let revision = outcome.revision else { return outcome.outcome.json }
        return WireValue.json(object: [
            "outcome": "applied", "revision": .text(revision.description),
            "count": .number(UInt64(text.items.count)),
        ])
    }

    private func failure(_ outcome: BatchOutcome) -> Failure? {
        guard let refused = outcome.refused else { return outcome.outcome.failure }
        let failure = DispatchOutcome<WireEmbedded>.rejected(refused.rejection).failure
        return failure.map {
            Failure($0.code, "\(place(of: text.items[refused.index])): \($0.text)")
        }
    }
}
