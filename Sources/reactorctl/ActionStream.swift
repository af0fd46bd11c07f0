import ReactorClient
import ReactorLoop
import ReactorWire

/// Sends actions from standard input, one per line, without waiting for each outcome.
struct ActionStream {
    let path: String
    /// Whether each outcome is printed as a line of its own.
    let isEach: Bool
    /// Whether outcomes wait for the actions' effects to end.
    let awaitsEffects: Bool
    let text: ActionText
    /// How long to wait for outcomes.
    let timeout: TimeoutOption

    /// Bytes per read. All actions of one read go to the client's thread in one job.
    private static let chunkBytes = 64 << 10
    /// Maximum bytes of JSON per byte of an encoded action: a letter may be written as `\u0061`,
    /// with white space around it.
    private static let spaciousness = 8

    /// Sends all actions and prints their outcomes.
    ///
    /// *Throws*: with code 65 at the first invalid line, after the lines before it were sent;
    /// with code 1 if an action was rejected; with code 74 if standard output was closed, which
    /// ends the sending.
    func run(_ client: Client) async throws {
        let outcomes = OutcomeCounter(isEach: isEach, hasSummary: !isEach)
        let pipeline = try await Failure.explain(path) { () throws(ClientError) in
            try await client.pipeline(path, awaitsEffects: awaitsEffects) { _, outcome in
                outcomes.add(outcome) { outcome.json }
            }
        }
        let limits = [timeout.begin(outcomes), timeout.watch(client) { outcomes.endEarly(nil) }]
        defer { for limit in limits { limit?.cancel() } }
        SignalWatch.start { signal in outcomes.endEarly("stopped by \(signal)") }
        let failure: Failure?
        do {
            let bad = try await sendLines(to: pipeline, of: client, outcomes)
            try await Failure.explain(path) { () throws(ClientError) in try await client.drain() }
            Output.progress("")
            try outcomes.checkOutput()
            failure = bad ?? outcomes.failure
        } catch let closed as Output.Closed where closed.reason == nil {
            throw Failure(
                Failure.outputCode,
                "standard output was closed before all outcomes were printed, \(outcomes.progress)")
        } catch let failure as Failure {
            outcomes.endEarly(nil)
            throw failure
        }
        client.close()
        let summary = outcomes.finish()
        if isEach {
            if let failure { throw failure }
        } else {
            try Output.result(summary, failure)
        }
    }

    /// Sends the actions of all lines; returns the error of the first invalid line.
    private func sendLines(
        to pipeline: Pipeline, of client: Client, _ outcomes: OutcomeCounter
    ) async throws -> Failure? {
        var rest: [UInt8] = []
        var line = 0
        let frameBytesMax = client.welcome.limits.frameBytesMax
        let lineBytesMax = Self.spaciousness * Int(frameBytesMax)
        while true {
            let chunk = try read()
            if chunk.isEmpty { break }
            rest.append(contentsOf: chunk)
            guard let end = rest.lastIndex(of: UInt8(ascii: "\n")) else {
                guard rest.count > lineBytesMax else { continue }
                return Failure(
                    Failure.badActionCode,
                    "line \(line + 1): longer than \(lineBytesMax) bytes; an action has at most "
                        + "\(frameBytesMax)")
            }
            if let bad = try await send(rest[..<end], &line, outcomes, through: pipeline) {
                return bad
            }
            // A copy releases the storage of a long line.
            rest = Array(rest[(end + 1)...])
            Output.progress("\(outcomes.count) of \(pipeline.count) actions")
            try outcomes.checkOutput()
        }
        return rest.isEmpty ? nil : try await send(rest[...], &line, outcomes, through: pipeline)
    }

    /// Returns the bytes available on standard input, waiting for the first; empty at the end.
    private func read() throws(Failure) -> [UInt8] {
        do throws(CallFailure) {
            return try StandardStream.input.read(Self.chunkBytes)
        } catch {
            throw Failure(Failure.inputCode, "standard input cannot be read: \(error.message)")
        }
    }

    /// Sends the actions in `lines`; returns the error of the first invalid line.
    private func send(
        _ lines: ArraySlice<UInt8>, _ number: inout Int, _ outcomes: OutcomeCounter,
        through pipeline: Pipeline
    ) async throws -> Failure? {
        var actions: [[UInt8]] = []
        var bad: Failure?
        for line in lines.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false) {
            number += 1
            if line.allSatisfy({ $0 == 0x20 || $0 == 0x09 || $0 == 0x0d }) { continue }
            do throws(Failure) {
                guard let line = String(validating: line, as: UTF8.self) else {
                    throw Failure(
                        Failure.badActionCode, "line \(number): not UTF-8; JSON must be UTF-8")
                }
                actions.append(try await text.encode(line, line: number))
            } catch {
                bad = error
                break
            }
        }
        outcomes.addSent(UInt64(actions.count))
        do throws(ClientError) {
            try await pipeline.send(actions)
        } catch {
            throw Failure(error)
        }
        return bad
    }
}
