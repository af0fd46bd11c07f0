package import ReactorCore
import ReactorServer

/// What a start would do with the data of a directory.
package struct StartForecast {
    /// One fact per line.
    package private(set) var lines: [String]
    /// The error that would end the start; nil if it would succeed.
    package private(set) var refusal: DaemonError?
    /// The differences between the schemas of the history and those of today's types.
    package private(set) var differences: [SchemaDifference] = []

    /// A start that reads no history, and fails with `refusal` if there is one.
    init(_ line: String, refusal: DaemonError? = nil) {
        lines = [line]
        self.refusal = refusal
    }

    /// A start that continues the history in `path` as `past` has read it, with a survey. `earlier`
    /// describes the rows before its snapshot.
    init(_ past: PastTree, earlier: [String], path: String, dropped: [SlicePath]) {
        lines = ["reads \(path)"]
        lines += past.passedOver.map { "skips a snapshot: \($0)" }
        lines.append(
            past.snapshotNumber.map { "starts from the snapshot of row \($0)" }
                ?? "starts from the first row")
        let end =
            past.revision.epoch == 0
            ? "sequence \(past.revision.sequence), and begins a new epoch"
            : "revision \(past.revision)"
        lines.append("replays \(past.rowCount) rows, up to \(end)")
        if past.unverified.count > 0 {
            lines.append("unverified: \(past.unverified): no checksum of the state follows them")
        }
        lines += earlier
        let lost = past.lostPaths
        lines += past.newPaths.filter { !lost.contains($0) }.map { "\($0) is new" }
        for path in lost where dropped.contains(where: { Self.isPath(path, below: $0) }) {
            let other = past.tree.node(at: path).map { ", and begins as \($0.reactorName)" }
            lines.append("\(path) is dropped\(other ?? "")")
        }
        if past.tree.schemas.isEmpty {
            lines.append("the history does not record its schemas: the next start adds them")
        }
        guard let survey = past.survey else { return }
        differences = survey.differences
        lines += differences.map(\.description)
        lines += survey.plans.map(\.description)
        lines += survey.uncompared.map(\.description)
        lines += survey.refusals.map { "is refused: \($0)" }
        refusal = survey.refusals.first.map { .recovery($0, place: path) }
    }

    private static func isPath(_ path: SlicePath, below other: SlicePath) -> Bool {
        path.components.starts(with: other.components)
    }
}
