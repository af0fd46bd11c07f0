import ReactorBytes

/// Examines a data directory, and copies its undamaged part elsewhere.
///
/// *Place*: `reactord doctor`. The directory is opened for reading and locked against daemons. Of
/// its files only SQLite's `-shm` may change, which contains no data.
package struct JournalDoctor {
    private let directory: DataDirectory

    /// Opens the directory at `path`. *Throws*: if it is missing, unusable or in use.
    package init(at path: String) throws(JournalError) {
        directory = try DataDirectory(at: path, to: .examine)
    }

    /// Returns all damage, and the extent of the undamaged part.
    package func examine() throws(JournalError) -> JournalReport {
        var report = JournalReport()
        collect(into: &report) { _ throws(JournalError) in try JournalFile.check(in: directory) }
        guard report.findings.isEmpty else { return report }
        collect(into: &report) { report throws(JournalError) in
            report.droppedByteCount = try JournalFile.checkLog(in: directory, at: .current())
        }
        collect(into: &report) { _ throws(JournalError) in
            try JournalFile.checkReleased(in: directory, JournalTuning())
        }
        collect(into: &report) { report throws(JournalError) in
            let reader = try JournalReader(directory)
            report.instance = reader.instance
            report.first = reader.anchor
            defer { report.last = reader.position }
            try reader.verifyRest()
        }
        for number in try SnapshotStore(directory).numbers() {
            collect(into: &report) { report throws(JournalError) in
                try SnapshotReader(directory, of: number).verifyRest()
                report.snapshots.append(number)
            }
        }
        collect(into: &report) { _ throws(JournalError) in _ = try SnapshotStore(directory).choose()
        }
        return report
    }

    /// The rows that a start replays: those after the newest snapshot of an undamaged directory.
    package func rows(in report: JournalReport) throws(JournalError) -> JournalReader {
        guard let number = report.snapshots.first else { return try JournalReader(directory) }
        return try JournalReader(directory, behind: number)
    }

    /// Writes the undamaged part into the new directory `path`: the longest run of rows that begins
    /// at the first row or at a good snapshot, and the newest good snapshot that fits it.
    ///
    /// Rows hidden by a damaged log are not included: see ``examine()``.
    package func salvage(into path: String) throws(JournalError) -> JournalSalvage {
        guard let salvage = try copy(until: .end, into: path) else {
            throw .missing(
                file: directory.path(JournalFile.name), reason: "no part of it can be read")
        }
        return salvage
    }

    /// Writes the undamaged part up to `limit` into the new directory `path`, as ``salvage(into:)``
    /// does; nil, without a directory, if nothing of the history lies before the limit.
    package func copy(
        until limit: JournalLimit, into path: String
    ) throws(JournalError) -> JournalSalvage? {
        try JournalFile.check(in: directory)
        let source = try source()
        var best: Run?
        for start in source.starts where limit.includes(start) {
            let run = try reach(from: start, limit, source)
            guard limit.isMet(by: run.end) else { continue }
            if best.map({ run.end.number > $0.end.number }) ?? true { best = run }
        }
        guard let best else { return nil }
        return try NewDirectory(at: path, outside: directory).fill { other throws(JournalError) in
            try copy(best, of: source.instance, into: other)
            if let kept = best.snapshot {
                try directory.copy(SnapshotHeader.name(kept), into: other)
                try other.synchronize()
            }
            return JournalSalvage(start: best.start, end: best.end, snapshot: best.snapshot)
        }
    }

    /// The possible starts of a run of rows.
    private struct Source {
        var instance: JournalInstance
        /// The first row and every good snapshot, earliest first.
        var starts: [JournalPosition]
        var snapshots: [UInt64: JournalPosition]
    }

    /// Undamaged rows without a gap.
    private struct Run {
        var start: JournalPosition
        var end: JournalPosition
        /// The newest snapshot that agrees with the rows.
        var snapshot: UInt64?
    }

    private func source() throws(JournalError) -> Source {
        var snapshots: [SnapshotHeader] = []
        for number in try SnapshotStore(directory).numbers() {
            guard let snapshot = try? SnapshotReader(directory, of: number),
                (try? snapshot.verifyRest()) != nil
            else { continue }
            snapshots.append(snapshot.header)
        }
        // A snapshot names its journal too, in case the journal itself cannot be read.
        let reader = Result { () throws(JournalError) in try JournalReader(directory) }
        guard let instance = (try? reader.get().instance) ?? snapshots.first?.instance else {
            _ = try reader.get()
            throw .missing(file: directory.path(JournalFile.name), reason: "it was expected")
        }
        snapshots.removeAll { $0.instance != instance }
        var starts = snapshots.map(\.position).sorted { $0.number < $1.number }
        // After a trim, the remaining rows are usable only with a snapshot.
        if case .success(let reader) = reader, reader.anchor.number == 0 {
            starts.insert(reader.anchor, at: 0)
        }
        return Source(
            instance: instance, starts: starts,
            snapshots: Dictionary(
                uniqueKeysWithValues: snapshots.map(\.position).map { ($0.number, $0) }))
    }

    /// Returns the run of undamaged rows after `start` up to `limit`; empty if there are none.
    private func reach(
        from start: JournalPosition, _ limit: JournalLimit, _ source: Source
    ) throws(JournalError) -> Run {
        var run = Run(start: start, end: start, snapshot: nil)
        if source.snapshots[start.number] == start { run.snapshot = start.number }
        do throws(JournalError) {
            let reader = try JournalReader(
                directory, behindSnapshot: start, of: source.instance)
            while let row = try reader.next(), limit.includes(row.position, behind: run.end) {
                run.end = row.position
                if source.snapshots[row.number] == row.position { run.snapshot = row.number }
            }
        } catch {
            guard case .damage = error else { throw error }
        }
        return run
    }

    private func copy(
        _ run: Run, of instance: JournalInstance, into other: DataDirectory
    ) throws(JournalError) {
        try JournalFile.make(
            in: other, instance: instance, anchor: run.start, tuning: JournalTuning())
        let target = try JournalFile.writer(in: other, durability: .strict)
        if run.end.number > run.start.number { try copyRows(of: run, instance, to: target) }
        try target.commit("salvaging into") { db in
            // Clients may have seen rows that are lost, so a daemon that continues from here must
            // begin a new epoch.
            let mark = Batch(
                turn: 0, epoch: 0, after: run.end.sequence, sequence: run.end.sequence)
            let row = try StoredRow(mark, behind: run.end, at: run.end.time, in: target.file)
            try BatchTable(db, in: target.file).append(row)
            try MetaTable(db, in: target.file).setFloor(row.position.number, of: instance)
        }
        try target.close()
    }

    private func copyRows(
        of run: Run, _ instance: JournalInstance, to target: JournalDatabase
    ) throws(JournalError) {
        let reader = try JournalReader(directory, behindSnapshot: run.start, of: instance)
        while reader.position.number < run.end.number {
            var rows: [JournalRow] = []
            while rows.count < JournalReader.chunkRowsMax,
                reader.position.number < run.end.number, let row = try reader.next()
            { rows.append(row) }
            try target.commit("salvaging into") { db in
                for row in rows { try BatchTable(db, in: target.file).append(StoredRow(row)) }
            }
        }
    }

    private func collect(
        into report: inout JournalReport, _ body: (inout JournalReport) throws(JournalError) -> Void
    ) {
        do throws(JournalError) { try body(&report) } catch {
            if !report.findings.contains(error) { report.findings.append(error) }
        }
    }
}

/// The findings of a ``JournalDoctor``.
package struct JournalReport: Equatable, Sendable {
    /// All damage; empty if a daemon would start.
    package var findings: [JournalError] = []
    /// The journal's identity, if it can be read.
    package var instance: JournalInstance?
    /// The position of the first row.
    package var first: JournalPosition?
    /// The end of the undamaged rows.
    package var last: JournalPosition?
    /// The row numbers of the undamaged snapshots.
    package var snapshots: [UInt64] = []
    /// Bytes of an unacknowledged commit that was cut off; not damage.
    package var droppedByteCount = 0
}

/// The last row of a copy.
package enum JournalLimit: Equatable, Sendable {
    /// The last undamaged row.
    case end
    /// The last row that ends at this sequence of an epoch, or before it.
    case sequence(epoch: UInt64, UInt64)
    /// The last row before the first row that is later than this time, in milliseconds since 1970.
    case time(Int64)

    /// Whether a copy may start at `position`.
    func includes(_ position: JournalPosition) -> Bool {
        switch self {
        case .end: true
        case .sequence(let epoch, let last):
            position.epoch != epoch || position.sequence <= last
        case .time(let time): position.number == 0 || position.time <= time
        }
    }

    /// Whether a copy that ends at `end` continues with the row up to `position`.
    func includes(_ position: JournalPosition, behind end: JournalPosition) -> Bool {
        if case .sequence(let epoch, _) = self, end.epoch == epoch, position.epoch != epoch {
            return false
        }
        return includes(position)
    }

    /// Whether a copy may end at `end`.
    func isMet(by end: JournalPosition) -> Bool {
        switch self {
        case .end: true
        case .sequence(let epoch, _): end.epoch == epoch
        case .time: end.number > 0
        }
    }
}

/// The extent of a salvaged copy.
package struct JournalSalvage: Equatable, Sendable {
    /// The position of its first row.
    package var start: JournalPosition
    /// The end of its last row.
    package var end: JournalPosition
    /// The row number of the copied snapshot.
    package var snapshot: UInt64?
}
