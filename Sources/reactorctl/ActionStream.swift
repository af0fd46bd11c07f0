import ReactorClient
import ReactorLoop
import ReactorWire
import Synchronization

/// Sends actions from standard input, one per line, without waiting for each outcome.
struct ActionStream {
    let path: String
    /// Whether each outcome is printed as a line of its own.
    let isEach: Bool
    /// Whether outcomes wait for the actions' effects to end.
    let awaitsEffects: Bool
    let text: ActionText
    /// How long to wait for outcomes.
    let patience: Patience

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
        let tally = Tally(isEach: isEach)
        let pipeline = try await Failure.explain(path) { () throws(ClientError) in
            try await client.pipeline(path, awaitsEffects: awaitsEffects) { _, outcome in
                tally.add(outcome)
            }
        }
        let limits = [patience.begin(tally), patience.watch(client) { tally.endEarly(nil) }]
        defer { for limit in limits { limit?.cancel() } }
        let failure: Failure?
        do {
            let bad = try await sendLines(to: pipeline, of: client, tally)
            try await Failure.explain(path) { () throws(ClientError) in try await client.drain() }
            Output.progress("")
            try tally.checkOutput()
            failure = bad ?? tally.failure
        } catch let closed as Output.Closed where closed.reason == nil {
            throw Failure(
                Failure.outputCode,
                "standard output was closed before all outcomes were printed, \(tally.progress)")
        } catch let failure as Failure {
            tally.endEarly(nil)
            throw failure
        }
        client.close()
        if isEach {
            if let failure { throw failure }
        } else {
            try Output.result(tally.summary, failure)
        }
    }

    /// Sends the actions of all lines; returns the error of the first invalid line.
    private func sendLines(
        to pipeline: Pipeline, of client: Client, _ tally: Tally
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
            if let bad = try await send(rest[..<end], &line, tally, through: pipeline) {
                return bad
            }
            // A copy releases the storage of a long line.
            rest = Array(rest[(end + 1)...])
            Output.progress("\(tally.count) of \(pipeline.count) actions")
            try tally.checkOutput()
        }
        return rest.isEmpty ? nil : try await send(rest[...], &line, tally, through: pipeline)
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
        _ lines: ArraySlice<UInt8>, _ number: inout Int, _ tally: Tally,
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
                actions.append(try text.encode(line, line: number))
            } catch {
                bad = error
                break
            }
        }
        tally.addSent(UInt64(actions.count))
        do throws(ClientError) {
            try await pipeline.send(actions)
        } catch {
            throw Failure(error)
        }
        return bad
    }
}

/// Counts sent actions and their outcomes.
final class Tally: Sendable {
    private let isEach: Bool
    private let counts = Mutex(Counts())

    private struct Counts {
        var sent: UInt64 = 0
        var applied: UInt64 = 0
        var rejected: UInt64 = 0
        var failed: UInt64 = 0
        var unknown: UInt64 = 0
        var last: Revision?
        var failure: Failure?
        var closed: Output.Closed?
        /// Whether the process ends without the remaining outcomes, which count as unknown.
        var isOver = false

        /// Number of outcomes.
        var outcomeCount: UInt64 { applied + rejected + failed + unknown }
    }

    init(isEach: Bool) { self.isEach = isEach }

    /// Number of outcomes so far.
    var count: UInt64 { counts.withLock { $0.outcomeCount } }

    /// Whether actions without an outcome remain.
    var isOwed: Bool { counts.withLock { $0.sent > $0.outcomeCount } }

    /// Adds to the number of sent actions.
    func addSent(_ count: UInt64) { counts.withLock { $0.sent += count } }

    /// Counts an outcome; called on the client's thread, in the order of the actions.
    func add(_ outcome: ActionOutcome) {
        counts.withLock { counts in
            guard !counts.isOver else { return }
            switch outcome {
            case .applied(let revision, _), .ownerEnded(let revision, _),
                .accepted(let revision):
                counts.applied += 1
                counts.last = revision
            case .rejected: counts.rejected += 1
            case .failed: counts.failed += 1
            case .unknown: counts.unknown += 1
            }
            if counts.failure == nil || outcome.isUnknown {
                counts.failure = outcome.failure ?? counts.failure
            }
            guard isEach, counts.closed == nil else { return }
            do throws(Output.Closed) {
                try Output.line(outcome.json)
            } catch {
                counts.closed = error
            }
        }
    }

    /// Counts the remaining actions as unknown and prints the summary, for a process that ends
    /// now. Prints the reason too, unless it is nil. Later calls, and later outcomes, do nothing.
    func endEarly(_ reason: String?) {
        counts.withLock { counts in
            guard !counts.isOver else { return }
            counts.isOver = true
            Output.progress("")
            if let reason {
                Output.complain(
                    "\(reason), \(Self.progress(counts)): check the state before you try again")
            }
            counts.unknown += counts.sent - counts.outcomeCount
            // The process ends with another error, so a closed output is not reported.
            if !isEach { try? Output.line(Self.summary(counts)) }
        }
    }

    /// *Throws*: if the reader of the lines has closed its end.
    func checkOutput() throws(Output.Closed) {
        if let closed = counts.withLock({ $0.closed }) { throw closed }
    }

    /// The first failed outcome, nil if all succeeded. An unknown outcome takes precedence.
    var failure: Failure? { counts.withLock { $0.failure } }

    /// The counts as one line of JSON.
    var summary: String { counts.withLock { Self.summary($0) } }

    /// The number of sent actions and of outcomes, for an error text.
    var progress: String { counts.withLock { Self.progress($0) } }

    private static func summary(_ counts: Counts) -> String {
        WireValue.json(object: [
            "applied": .number(counts.applied),
            "rejected": .number(counts.rejected),
            "failed": .number(counts.failed),
            "unknown": .number(counts.unknown),
            "revision": counts.last.map { .text($0.description) } ?? .null,
        ])
    }

    private static func progress(_ counts: Counts) -> String {
        "after \(counts.sent) actions were sent and \(counts.outcomeCount) had an outcome"
    }
}
