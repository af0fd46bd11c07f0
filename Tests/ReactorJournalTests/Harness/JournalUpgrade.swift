import Foundation
import ReactorThreads

@testable import ReactorJournal

/// An upgrade to two future formats, whose steps must each run once; it can be interrupted in the
/// middle of a step.
final class JournalUpgrade: Sendable {
    private let taken = Guarded<[Int]>([])
    private let cutStep: Int?
    private let copy: (from: String, to: String)?

    /// With `cutStep`, that step fails half-way, after copying the files from one directory to
    /// another.
    init(cutIn cutStep: Int? = nil, copying from: String = "", to: String = "") {
        self.cutStep = cutStep
        copy = cutStep.map { _ in (from, to) }
    }

    /// The completed steps, in order.
    var takenSteps: [Int] { taken.withLock { $0 } }

    /// Runs `body` as a program with these formats would.
    func run<Result>(_ body: () throws -> Result) rethrows -> Result {
        try JournalSchema.$stepsToCome.withValue([
            { [self] db in
                try take(
                    3, db, first: "ALTER TABLE batch ADD COLUMN note TEXT",
                    then: "UPDATE batch SET note = coalesce(note, '') || 'noted ' || number")
            },
            { [self] db in
                try take(
                    4, db, first: "ALTER TABLE batch ADD COLUMN size INTEGER DEFAULT 0",
                    then: "UPDATE batch SET size = size + length(facts)")
            },
        ]) { try body() }
    }

    /// Runs the first steps of a start.
    func prepare(_ rig: JournalRig) throws {
        let directory = try rig.directory()
        _ = try JournalFile.prepare(in: directory, tuning: rig.tuning)
        try JournalFile.complete(in: directory)
    }

    /// The format and all rows of the table, as text.
    func dump(_ rig: JournalRig) throws -> [String] {
        let database = try JournalFile.reader(in: rig.directory())
        return try database.run("looking") { db in
            let format = try JournalFormat(db).format
            let select = try db.statement(
                """
                SELECT number || ' ' || note || ' ' || size || ' ' || epoch || ' ' || after
                    || ' ' || sequence || ' ' || time || ' ' || chain || ' ' || hex(deltas)
                    || ' ' || hex(facts)
                FROM batch ORDER BY number
                """)
            defer { select.end() }
            var lines = ["format \(format)"]
            while try select.step() { lines.append(select.text(0) ?? "no text") }
            return lines
        }
    }

    private func take(_ step: Int, _ db: SQLiteConnection, first: String, then: String) throws {
        try db.execute(first)
        if step == cutStep, let copy {
            for name in [JournalFile.logName, JournalFile.name] {
                let from = URL(filePath: copy.from + "/" + name)
                try Data(contentsOf: from).write(to: URL(filePath: copy.to + "/" + name))
            }
            throw Cut()
        }
        try db.execute(then + "; PRAGMA user_version = \(step)")
        taken.withLock { $0.append(step) }
    }

    private struct Cut: Error {}
}
