import ReactorBytes
import ReactorCore
import ReactorWire

@testable import ReactorServer

/// The history of daemons that have ended: its rows, and a snapshot of its end.
struct Past {
    var rows: [Batch] = []
    var parts: [[UInt8]] = []
    var sequence: UInt64 { rows.last?.sequence ?? 0 }

    enum Source: CaseIterable { case rows, snapshot }

    /// The history without the schemas of its values, as older programs wrote it.
    var withoutSchemas: Past {
        get throws {
            var past = self
            past.rows = try rows.map { row in
                let facts = try TurnFact.list(row.facts.span).filter { fact in
                    if case .schemas = fact { false } else { true }
                }
                return Batch(
                    turn: row.turn, epoch: row.epoch, after: row.after, sequence: row.sequence,
                    deltas: row.deltas, facts: facts.flatMap { $0.wireBytes() })
            }
            return past
        }
    }

    /// The planned actions in the snapshot.
    var plans: [WireEmbedded] {
        get throws {
            try parts.flatMap { part in
                guard case .tasks(let facts) = try SnapshotPart(wireBytes: part.span) else {
                    return [WireEmbedded]()
                }
                return facts.compactMap { fact in
                    guard case .timer(_, _, _, _, _, _, _, let action) = fact else { return nil }
                    return action
                }
            }
        }
    }

    /// The payloads of the durable tasks in the snapshot.
    var payloads: [WireEmbedded] {
        get throws {
            try parts.flatMap { part in
                guard case .tasks(let facts) = try SnapshotPart(wireBytes: part.span) else {
                    return [WireEmbedded]()
                }
                return facts.compactMap { fact in
                    guard case .effect(_, _, _, let payload) = fact else { return nil }
                    return payload
                }
            }
        }
    }
}

// MARK: - Runs
extension Past {
    static func recovery(
        _ root: some Reactor, _ past: Past, _ source: Past.Source = .rows
    ) throws -> Recovery {
        let recovery = Recovery(of: Tree(root, epoch: 99), limits: ServerLimits())
        return try read(past, source, by: recovery)
    }

    static func read(
        _ past: Past, _ source: Past.Source, by recovery: Recovery
    ) throws -> Recovery {
        switch source {
        case .rows: for row in past.rows { try recovery.replay(row) }
        case .snapshot: for part in past.parts { try recovery.restore(part) }
        }
        return try recovery.finish(epoch: 7, sequence: past.sequence)
    }

    /// What a survey of the history says.
    static func survey(
        _ root: some Reactor, _ past: Past, _ source: Past.Source
    ) throws -> RecoverySurvey {
        let recovery = Recovery(of: Tree(root, epoch: 99), limits: ServerLimits())
        let survey = recovery.beginSurvey()
        _ = try read(past, source, by: recovery)
        return survey
    }

    /// Runs a daemon of `root` that continues `past`, and runs `act`.
    static func run(
        _ root: some Reactor, behind past: Past = Past(), _ source: Past.Source = .rows,
        _ act: (TestClient) -> Void = { _ in }
    ) throws -> Past {
        let harness = ServerHarness(try recovery(root, past, source))
        harness.turn()
        act(harness.client())
        harness.turn()
        let parts = harness.parts(of: try harness.beginSnapshot())
        return Past(rows: past.rows + harness.rows, parts: parts)
    }
}
