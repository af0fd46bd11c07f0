package import ReactorCore
import ReactorJournal
import ReactorServer
package import ReactorWire

/// A history read completely with today's reactors, with everything that prevents a start.
///
/// *Place*: an author's test of an old data directory. Nothing in the directory changes. *Cost*: if
/// the directory has a snapshot and all rows, both are read, into a tree each.
package struct HistoryReading {
    /// The tree at the history's end, read as a start reads it.
    package let tree: Tree
    /// The revision of the history's end.
    package let revision: Revision
    /// What today's reactors cannot read, and where a replay of all rows leads to another state than
    /// the snapshot.
    package private(set) var problems: [String]
    /// The differences between the schemas of the history and those of today's types.
    package let differences: [SchemaDifference]

    /// Reads the history in `directory`, which no other process uses; `root` makes the reactors.
    package init<R: Reactor>(
        of directory: String, by root: () throws -> R, dropped: [SlicePath]
    ) throws {
        let data = try DataDirectory(examining: directory)
        func read(fromFirstRow: Bool) throws -> PastTree {
            try PastTree(
                try root(), in: data, limits: ServerLimits(), dropped: dropped, surveys: true,
                fromFirstRow: fromFirstRow)
        }
        let past = try read(fromFirstRow: false)
        (tree, revision) = (past.tree, past.revision)
        problems = Self.problems(of: past)
        differences = past.survey?.differences ?? []
        guard past.snapshotNumber != nil, try JournalReader(data).anchor.number == 0 else { return }
        let replayed = try read(fromFirstRow: true)
        let found = Self.problems(of: replayed).filter { !problems.contains($0) }
        problems += found.map { "replayed from the first row, \($0)" }
        if problems.isEmpty { problems = Self.differences(between: past.tree, replayed.tree) }
    }

    private static func problems(of past: PastTree) -> [String] {
        guard let survey = past.survey else { return [] }
        return past.passedOver.map { "\($0)" } + survey.refusals.map(\.description)
            + survey.plans.map(\.description)
    }

    /// The nodes with another state in a replay of all rows, and other planned actions.
    private static func differences(between snapshot: Tree, _ rows: Tree) -> [String] {
        var (kept, replayed) = (states(of: snapshot), states(of: rows))
        (kept["planned actions"], replayed["planned actions"]) = (
            plans(of: snapshot), plans(of: rows)
        )
        return Set(kept.keys).union(replayed.keys).sorted().compactMap { path in
            let (kept, replayed) = (kept[path] ?? "nothing", replayed[path] ?? "nothing")
            guard kept != replayed else { return nil }
            return "\(path): the snapshot leads to \(kept), and a replay of all rows to \(replayed)"
        }
    }

    private static func states(of tree: Tree) -> [String: String] {
        var states: [String: String] = [:]
        tree.forEachNode { node in
            var writer = WireWriter()
            node.encodeState(into: &writer)
            states[node.path.description] = (try? WireValue(wireBytes: writer.bytes))?.json() ?? ""
        }
        return states
    }

    private static func plans(of tree: Tree) -> String {
        tree.copyTasks()().map { (try? WireValue(encoding: $0))?.json() ?? "" }
            .joined(separator: ", ")
    }
}
