import Foundation
import GRDB
import ReactorThreads

@testable import ReactorJournal

/// An upgrade to formats that are to come, by two steps of which neither may be taken twice; it can
/// be cut off in the middle of one.
final class JournalUpgrade: Sendable {
    private let taken = Guarded<[Int]>([])
    private let cutStep: Int?
    private let copy: (from: String, to: String)?

    /// With `cutStep`, that one fails half-way, having copied the files as they were in one
    /// directory to another.
    init(cutIn cutStep: Int? = nil, copying from: String = "", to: String = "") {
        self.cutStep = cutStep
        copy = cutStep.map { _ in (from, to) }
    }

    /// The steps that were taken to their end, in order.
    var takenSteps: [Int] { taken.withLock { $0 } }

    /// Runs `body` as a program would that knows these formats.
    func run<Result>(_ body: () throws -> Result) rethrows -> Result {
        try JournalSchema.$stepsToCome.withValue([
            { [self] db in
                try take(
                    2, db, first: "ALTER TABLE batch ADD COLUMN note TEXT",
                    then: "UPDATE batch SET note = coalesce(note, '') || 'noted ' || number")
            },
            { [self] db in
                try take(
                    3, db, first: "ALTER TABLE batch ADD COLUMN size INTEGER DEFAULT 0",
                    then: "UPDATE batch SET size = size + length(facts)")
            },
        ]) { try body() }
    }

    /// What a start does first.
    func prepare(_ rig: JournalRig) throws {
        _ = try JournalFile.prepare(in: rig.directory(), tuning: rig.tuning)
    }

    /// The format, and all that is in the table of rows, as text.
    func dump(_ rig: JournalRig) throws -> [String] {
        let database = try JournalFile.reader(in: rig.directory())
        return try database.run("looking") { db in
            let format = try JournalFormat(db).format
            let rows = try String.fetchAll(
                db,
                sql: """
                    SELECT number || ' ' || note || ' ' || size || ' ' || epoch || ' ' || after
                        || ' ' || sequence || ' ' || time || ' ' || chain || ' ' || hex(deltas)
                        || ' ' || hex(facts)
                    FROM batch ORDER BY number
                    """)
            return ["format \(format)"] + rows
        }
    }

    private func take(_ step: Int, _ db: Database, first: String, then: String) throws {
        try db.execute(sql: first)
        if step == cutStep, let copy {
            for name in [JournalFile.logName, JournalFile.name] {
                let from = URL(filePath: copy.from + "/" + name)
                try Data(contentsOf: from).write(to: URL(filePath: copy.to + "/" + name))
            }
            throw Cut()
        }
        try db.execute(sql: then + "; PRAGMA user_version = \(step)")
        taken.withLock { $0.append(step) }
    }

    private struct Cut: Error {}
}
