/// Says what is wrong with a data directory, and writes what is good of it elsewhere.
///
/// *Place*: `reactord doctor`. The source is opened to be read and locked so that no daemon runs
/// in it; of its files only SQLite's `-shm`, which holds nothing, may change.
public struct JournalDoctor {
    private let directory: DataDirectory

    /// Looks at the directory at `path`. *Throws*: where it is none, or in use.
    public init(at path: String) throws(JournalError) {
        directory = try DataDirectory(at: path, to: .examine)
    }

    /// Everything that is wrong, and how far what is good reaches.
    public func examine() throws(JournalError) -> JournalReport {
        var report = JournalReport()
        note(in: &report) { _ throws(JournalError) in try JournalFile.check(in: directory) }
        guard report.findings.isEmpty else { return report }
        note(in: &report) { report throws(JournalError) in
            report.droppedByteCount = try JournalFile.checkLog(in: directory)
        }
        note(in: &report) { _ throws(JournalError) in
            try JournalFile.checkReleased(in: directory, JournalTuning())
        }
        note(in: &report) { report throws(JournalError) in
            let reader = try JournalReader(directory)
            report.instance = reader.instance
            report.first = reader.anchor
            defer { report.last = reader.position }
            try reader.verifyRest()
        }
        for number in try SnapshotShelf(directory).numbers() {
            note(in: &report) { report throws(JournalError) in
                try SnapshotReader(directory, of: number).verifyRest()
                report.snapshots.append(number)
            }
        }
        note(in: &report) { _ throws(JournalError) in _ = try SnapshotShelf(directory).choose() }
        return report
    }

    /// Writes what is good into the new directory `path`: the run of rows that reaches furthest, from
    /// the first row or from a good snapshot on, and the newest good snapshot that joins it.
    ///
    /// What a damaged log hides is not in it: see ``examine()``.
    public func salvage(into path: String) throws(JournalError) -> JournalSalvage {
        try JournalFile.check(in: directory)
        return try DataDirectory.fill(path, from: directory) { other throws(JournalError) in
            try salvage(into: other)
        }
    }

    private func salvage(into other: DataDirectory) throws(JournalError) -> JournalSalvage {
        let source = try source()
        var best: Run?
        for start in source.starts {
            let run = try reach(from: start, source)
            if best.map({ run.end.number > $0.end.number }) ?? true { best = run }
        }
        guard let best else {
            throw .missing(
                file: directory.path(JournalFile.name), reason: "no part of it can be read")
        }
        try copy(best, of: source.instance, into: other)
        if let kept = best.snapshot {
            try directory.copy(SnapshotHeader.name(kept), into: other)
            try other.synchronize()
        }
        return JournalSalvage(start: best.start, end: best.end, snapshot: best.snapshot)
    }

    /// What can be begun from.
    private struct Source {
        var instance: JournalInstance
        /// The first row and every good snapshot, the earliest first.
        var starts: [JournalPosition]
        var snapshots: [UInt64: JournalPosition]
    }

    /// Good rows without a gap.
    private struct Run {
        var start: JournalPosition
        var end: JournalPosition
        /// The newest snapshot that says the same as they do.
        var snapshot: UInt64?
    }

    private func source() throws(JournalError) -> Source {
        var snapshots: [SnapshotHeader] = []
        for number in try SnapshotShelf(directory).numbers() {
            guard let snapshot = try? SnapshotReader(directory, of: number),
                (try? snapshot.verifyRest()) != nil
            else { continue }
            snapshots.append(snapshot.header)
        }
        // because a snapshot says as well which journal it is of, where that cannot be read
        let reader = Result { () throws(JournalError) in try JournalReader(directory) }
        guard let instance = (try? reader.get().instance) ?? snapshots.first?.instance else {
            _ = try reader.get()
            throw .missing(file: directory.path(JournalFile.name), reason: "it was to be read")
        }
        snapshots.removeAll { $0.instance != instance }
        var starts = snapshots.map(\.position).sorted { $0.number < $1.number }
        // because rows behind a gap are of use only behind a snapshot
        if case .success(let reader) = reader, reader.anchor.number == 0 {
            starts.insert(reader.anchor, at: 0)
        }
        return Source(
            instance: instance, starts: starts,
            snapshots: Dictionary(
                uniqueKeysWithValues: snapshots.map(\.position).map { ($0.number, $0) }))
    }

    /// How far the good rows behind `start` reach; nowhere, if there are none.
    private func reach(
        from start: JournalPosition, _ source: Source
    ) throws(JournalError) -> Run {
        var run = Run(start: start, end: start, snapshot: nil)
        if source.snapshots[start.number] == start { run.snapshot = start.number }
        do throws(JournalError) {
            let reader = try JournalReader(
                directory, behindSnapshot: start, of: source.instance)
            while let row = try reader.next() {
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
            // because what came behind may have been seen: who goes on from here has a history of its
            // own
            let mark = JournalBatch(
                turn: 0, epoch: 0, after: run.end.sequence, sequence: run.end.sequence, bytes: [],
                range: 0..<0)
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

    private func note(
        in report: inout JournalReport, _ body: (inout JournalReport) throws(JournalError) -> Void
    ) {
        do throws(JournalError) { try body(&report) } catch {
            if !report.findings.contains(error) { report.findings.append(error) }
        }
    }
}

/// What a doctor has seen.
public struct JournalReport: Equatable, Sendable {
    /// Everything that is wrong; empty if a daemon would start.
    public var findings: [JournalError] = []
    /// Which journal it is, if that can be read.
    public var instance: JournalInstance?
    /// Where the first row stands.
    public var first: JournalPosition?
    /// Where the good rows end.
    public var last: JournalPosition?
    /// The rows of the snapshots that are whole.
    public var snapshots: [UInt64] = []
    /// Bytes of a commit that was cut off, unacknowledged; not a fault.
    public var droppedByteCount = 0
}

/// What was salvaged.
public struct JournalSalvage: Equatable, Sendable {
    /// Where the first row stands.
    public var start: JournalPosition
    /// Where the last ends.
    public var end: JournalPosition
    /// The row of the snapshot that was copied.
    public var snapshot: UInt64?
}
