import ReactorJournal
import ReactorServer
import ReactorWire

/// The findings of an examination of a data directory, as text for the operator.
package struct HistoryDoctor {
    /// One finding or fact per line.
    package let lines: [String]
    /// True if the examination found no damage.
    package let isHealthy: Bool

    /// Examines the directory at `path` without changing it. If `copy` is given, writes the
    /// undamaged part into a new directory at that path.
    ///
    /// *Throws*: if the directory is missing or in use, or the copy cannot be written.
    package init(of path: String, salvagingInto copy: String? = nil) throws(DaemonError) {
        do throws(JournalError) {
            let doctor = try JournalDoctor(at: path)
            let report = try doctor.examine()
            var lines = report.findings.map { "damage: \($0)" }
            lines += Self.facts(report)
            if report.findings.isEmpty { lines += try Self.unverified(doctor.rows(in: report)) }
            if let copy {
                let found = try doctor.salvage(into: copy)
                lines.append(
                    "salvaged into \(copy): rows \(found.start.number + 1) to "
                        + "\(found.end.number)"
                        + (found.snapshot.map { " and the snapshot of row \($0)" } ?? ""))
            }
            self.lines = lines
            isHealthy = report.findings.isEmpty
        } catch {
            throw .journal(error)
        }
    }

    /// Names the rows that a start replays and cannot verify.
    private static func unverified(_ reader: JournalReader) throws(JournalError) -> [String] {
        var rows = UnverifiedRows()
        while let row = try reader.next() {
            // Facts that cannot be read are damage, which only a start with its reactors reports.
            rows.add(row.batch, (try? TurnFact.list(row.facts.span)) ?? [])
        }
        return rows.count == 0
            ? [] : ["unverified: \(rows): no checksum of the state follows them"]
    }

    private static func facts(_ report: JournalReport) -> [String] {
        var lines: [String] = []
        if let instance = report.instance { lines.append("journal \(instance)") }
        if let first = report.first, let last = report.last {
            let rows =
                last.number == first.number
                ? "no rows after row \(first.number)"
                : "rows \(first.number + 1) to \(last.number) are good"
            lines.append("\(rows), up to sequence \(last.sequence)")
        }
        for number in report.snapshots { lines.append("the snapshot of row \(number) is good") }
        if report.droppedByteCount > 0 {
            lines.append(
                "\(report.droppedByteCount) bytes of an incomplete commit will be dropped; it was not "
                    + "acknowledged")
        }
        return lines
    }
}
