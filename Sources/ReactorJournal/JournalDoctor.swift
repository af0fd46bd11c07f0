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
            report.droppedByteCount = try WriteAheadLog.check(
                in: directory, isStrict: try JournalFile.isStrict(in: directory))
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

    /// Writes what is good into an empty directory: the run of rows that reaches furthest, from
    /// the first row or from a good snapshot on, and the newest good snapshot that joins it.
    ///
    /// What a damaged log hides is not in it: see ``examine()``.
    public func salvage(into path: String) throws(JournalError) -> JournalSalvage {
        try JournalFile.check(in: directory)
        let other = try DataDirectory(at: path)
        guard try other.byteCount(of: JournalFile.name) == nil else {
            throw .foreign(file: other.path(JournalFile.name), found: "there is a journal already")
        }
        let candidates = try starts()
        var best: (start: JournalPosition, end: JournalPosition)?
        for start in candidates {
            let end = try reach(from: start)
            if best.map({ end.number > $0.end.number }) ?? true { best = (start, end) }
        }
        guard let best else {
            throw .missing(
                file: directory.path(JournalFile.name), reason: "no part of it can be read")
        }
        try copy(from: best.start, to: best.end, into: other)
        let kept = candidates.map(\.number).filter {
            $0 <= best.end.number && $0 >= best.start.number && isSnapshot($0)
        }.max()
        if let kept {
            try directory.copy(SnapshotHeader.name(kept), into: other)
            try other.synchronize()
        }
        return JournalSalvage(start: best.start, end: best.end, snapshot: kept)
    }

    /// The first row and every good snapshot, the earliest first.
    private func starts() throws(JournalError) -> [JournalPosition] {
        let reader = try JournalReader(directory)
        var starts: [JournalPosition] = []
        for number in try SnapshotShelf(directory).numbers().reversed() {
            guard let snapshot = try? SnapshotReader(directory, of: number),
                (try? snapshot.verifyRest()) != nil, snapshot.header.instance == reader.instance
            else { continue }
            starts.append(snapshot.header.position)
        }
        // because rows behind a gap are of use only behind a snapshot
        let isWhole = reader.anchor.number == 0 || starts.contains(reader.anchor)
        return (isWhole ? [reader.anchor] : []) + starts.filter { $0 != reader.anchor }
    }

    /// Where the good rows behind `start` end; there, if there are none.
    private func reach(from start: JournalPosition) throws(JournalError) -> JournalPosition {
        guard let reader = try? JournalReader(directory, behind: start) else { return start }
        do throws(JournalError) { try reader.verifyRest() } catch {
            guard case .damage = error else { throw error }
        }
        return reader.position
    }

    private func copy(
        from start: JournalPosition, to end: JournalPosition, into other: DataDirectory
    ) throws(JournalError) {
        let source = try JournalReader(directory)
        try JournalFile.make(
            in: other, instance: source.instance, anchor: start, tuning: JournalTuning())
        guard end.number > start.number else { return }
        let reader = try JournalReader(directory, behind: start)
        let target = try JournalFile.writer(in: other, durability: .strict)
        while reader.position.number < end.number {
            var rows: [JournalRow] = []
            while rows.count < JournalReader.chunkRowsMax, reader.position.number < end.number,
                let row = try reader.next()
            { rows.append(row) }
            try target.commit("salvaging into") { db in
                for row in rows { try BatchTable(db, in: target.file).insert(row) }
            }
        }
        try target.close()
    }

    private func isSnapshot(_ number: UInt64) -> Bool {
        (try? directory.byteCount(of: SnapshotHeader.name(number))) != nil
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
