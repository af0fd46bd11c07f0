import ReactorClient
import ReactorLoop
import ReactorWire
import Synchronization

/// Actions from standard input, one per line, sent without waiting for each.
struct ActionStream {
    let path: String
    /// Whether each action's outcome is a line of its own.
    let isEach: Bool
    /// Whether an action has its outcome when its effects have ended.
    let awaitsEffects: Bool
    let text: ActionText
    /// How long to wait for outcomes.
    let patience: Patience

    /// Bytes that are read at once. Each is one hop to the client's thread: many actions share it.
    private static let chunkBytes = 64 << 10
    /// Bytes of JSON for each byte that an action may have: a letter may be written as `\u0061`,
    /// and there may be space around it.
    private static let spaciousness = 8

    /// Sends everything and prints what became of it.
    ///
    /// *Throws*: with code 65 at the first line that is no action, after those before it; with
    /// code 1 if any was rejected.
    func run(_ client: Client) async throws {
        let tally = Tally(isEach: isEach)
        let pipeline = try await Failure.explain(path) { () throws(ClientError) in
            try await client.pipeline(path, awaitsEffects: awaitsEffects) { _, outcome in
                tally.add(outcome)
            }
        }
        let limit = patience.begin(tally)
        defer { limit?.cancel() }
        var bad: Failure?
        var rest: [UInt8] = []
        var line = 0
        let lineBytesMax = Self.spaciousness * Int(client.welcome.limits.frameBytesMax)
        while true {
            let chunk = try read()
            if chunk.isEmpty { break }
            rest.append(contentsOf: chunk)
            guard let end = rest.lastIndex(of: UInt8(ascii: "\n")) else {
                guard rest.count > lineBytesMax else { continue }
                rest = []
                bad = Failure(
                    Failure.badActionCode,
                    "line \(line + 1): more than \(lineBytesMax) bytes, which is no action: the daemon "
                        + "takes \(client.welcome.limits.frameBytesMax)")
                break
            }
            bad = try await send(rest[..<end], &line, tally, through: pipeline)
            // The storage of a long line is not kept for the short ones behind it.
            rest = Array(rest[(end + 1)...])
            if bad != nil { break }
            Output.progress("\(tally.count) of \(pipeline.count) actions")
            try tally.checkOutput()
        }
        if bad == nil, !rest.isEmpty {
            bad = try await send(rest[...], &line, tally, through: pipeline)
        }
        try await Failure.explain(path) { () throws(ClientError) in try await client.drain() }
        Output.progress("")
        try tally.checkOutput()
        if !isEach { try Output.line(tally.summary) }
        client.close()
        if let failure = bad ?? tally.failure { throw failure }
    }

    /// What standard input has, as soon as it has something; nothing at its end.
    private func read() throws(Failure) -> [UInt8] {
        do throws(CallFailure) {
            return try StandardStream.input.read(Self.chunkBytes)
        } catch {
            throw Failure(Failure.inputCode, "standard input cannot be read: \(error.message)")
        }
    }

    /// Sends the actions in `lines`; says what is wrong with the first that is none.
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
                actions.append(
                    try text.encode(String(decoding: line, as: UTF8.self), line: number))
            } catch {
                bad = error
                break
            }
        }
        tally.owe(UInt64(actions.count))
        do throws(ClientError) {
            try await pipeline.send(actions)
        } catch {
            throw Failure(error)
        }
        return bad
    }
}

/// Counts outcomes as they come in.
final class Tally: Sendable {
    private let isEach: Bool
    private let counts = Mutex(Counts())

    private struct Counts {
        var applied: UInt64 = 0
        var rejected: UInt64 = 0
        var failed: UInt64 = 0
        var unknown: UInt64 = 0
        var owed: UInt64 = 0
        var last: Revision?
        var failure: Failure?
        var closed: Output.Closed?
    }

    init(isEach: Bool) { self.isEach = isEach }

    /// Outcomes so far.
    var count: UInt64 {
        counts.withLock { $0.applied + $0.rejected + $0.failed + $0.unknown }
    }

    /// Whether there are actions without an outcome.
    var isOwed: Bool {
        let count = count
        return counts.withLock { $0.owed > count }
    }

    /// Says that so many more actions are sent.
    func owe(_ count: UInt64) { counts.withLock { $0.owed += count } }

    /// Adds an outcome; called on the client's thread, in the order of the actions.
    func add(_ outcome: ActionOutcome) {
        counts.withLock { counts in
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

    /// *Throws*: when nobody reads the lines any more.
    func checkOutput() throws(Output.Closed) {
        if let closed = counts.withLock({ $0.closed }) { throw closed }
    }

    /// Why not all is well.
    var failure: Failure? { counts.withLock { $0.failure } }

    /// The counts as a line of JSON.
    var summary: String {
        counts.withLock { counts in
            WireValue.json(object: [
                "applied": .number(counts.applied),
                "rejected": .number(counts.rejected),
                "failed": .number(counts.failed),
                "unknown": .number(counts.unknown),
                "revision": counts.last.map { .text($0.description) } ?? .null,
            ])
        }
    }
}
