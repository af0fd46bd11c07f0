import FoundationEssentials
public import ReactorCore
import ReactorDaemon

/// The history in the data directory of an earlier version, read with today's reactors.
///
///     let old = try OldHistory(in: golden + "version-1", of: Coordinator())
///     #expect(try old.state(of: Coordinator.self).orders.count == 3)
///
/// Reading changes nothing: it opens a copy of the directory, converts and replays everything, and
/// deletes the copy. If the directory has a snapshot and all rows, both are read and must lead to
/// the same states and planned actions.
public struct OldHistory {
    /// The revision of the history's end.
    public let revision: Revision
    /// The state of the root with the states of all other reactors composed into it.
    public let value: WireValue
    /// The differences between the schemas of the history and those of today's types.
    public let changes: [Change]
    private let tree: Tree

    /// A difference of schemas, with its verdict.
    public struct Change: CustomStringConvertible {
        /// Whether every stored value of the earlier form is read without a loss, whatever it is.
        public let isFine: Bool
        /// The path, the reactor, the place in the value, the difference, and what to write.
        public let description: String
    }

    /// Reads the history in `directory`, the data directory of a daemon that has stopped.
    ///
    /// *Throws*: ``OldHistoryError`` with everything that today's reactors cannot read; other
    /// errors if there is no history, or if the files cannot be copied.
    public init<R: Reactor>(
        in directory: String, of root: @autoclosure () throws -> R, dropped: [SlicePath] = []
    ) throws {
        let copy = "/tmp/old-history-\(UInt64.random(in: .min ... .max))"
        defer { try? FileManager.default.removeItem(atPath: copy) }
        try Self.copy(directory, to: copy)
        let reading = try HistoryReading(of: copy, by: root, dropped: dropped)
        guard reading.problems.isEmpty else {
            throw OldHistoryError(problems: reading.problems)
        }
        (tree, revision) = (reading.tree, reading.revision)
        changes = reading.differences.map {
            Change(isFine: $0.change.verdict == .fine, description: $0.description)
        }
        var writer = WireWriter()
        tree.root.encodeValue(into: &writer)
        value = try WireValue(wireBytes: writer.bytes)
    }

    /// Copies the files with the permissions that a daemon gives them: others are refused.
    private static func copy(_ directory: String, to copy: String) throws {
        let files = FileManager.default
        try files.createDirectory(
            atPath: copy, withIntermediateDirectories: false,
            attributes: [.posixPermissions: 0o700])
        for name in try files.contentsOfDirectory(atPath: directory) {
            try files.copyItem(atPath: directory + "/" + name, toPath: copy + "/" + name)
            try files.setAttributes([.posixPermissions: 0o600], ofItemAtPath: copy + "/" + name)
        }
    }

    /// The state of the reactor at `path`.
    ///
    /// *Throws*: ``OldHistoryError`` if no reactor of the type is at the path.
    public func state<R: Reactor>(of type: R.Type, at path: String = "/") throws -> R.State {
        try node(of: type, at: path).state
    }

    /// The pending planned actions of the reactor at `path`, by the names of the plans.
    ///
    /// *Throws*: as ``state(of:at:)``.
    public func plannedActions<R: Reactor>(
        of type: R.Type, at path: String = "/"
    ) throws -> [String: R.Action] {
        let number = try node(of: type, at: path).number
        var plans: [String: R.Action] = [:]
        for case .timer(number, let name, _, _, _, _, _, let action) in tree.copyTasks()() {
            plans[name] = try action.decode(as: R.Action.self)
        }
        return plans
    }

    private func node<R: Reactor>(of type: R.Type, at path: String) throws -> Node<R> {
        let node = tree.node(at: try SlicePath(path))
        if let node = node as? Node<R> { return node }
        let found = node.map { "a \($0.describedName)" } ?? "no reactor"
        throw OldHistoryError(problems: ["\(path): expected a \(R.self), got \(found)"])
    }
}

/// What today's reactors cannot read of an old history.
public struct OldHistoryError: Error, CustomStringConvertible {
    /// The problems, each with its path and the remedy.
    public let problems: [String]

    public var description: String { problems.joined(separator: "\n") }
}
