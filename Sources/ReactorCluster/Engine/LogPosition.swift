/// A position in the engine's log.
package struct LogPosition: Hashable, Sendable {
    /// Number of the entry before the position: the version of the log key. 0 before the first.
    package var number: UInt64
    /// The engine's revision of that entry: the log key's mod revision. 0 before the first.
    package var revision: UInt64

    /// Creates the position after the entry `number` with the engine's `revision`.
    package init(number: UInt64, revision: UInt64) {
        self.number = number
        self.revision = revision
    }

    /// The position before the first entry.
    package static let beginning = LogPosition(number: 0, revision: 0)
}

/// An entry as the engine stores it.
package struct StoredEntry: Equatable, Sendable {
    /// The position after the entry.
    package var position: LogPosition
    /// The value: see ``LogEntry``.
    package var bytes: [UInt8]

    /// Creates an entry from a version of the log key.
    package init(position: LogPosition, bytes: [UInt8]) {
        self.position = position
        self.bytes = bytes
    }
}

/// A machine with a daemon and a member of the engine.
///
/// *Shape*: the index of the configuration, from 1 on; no node ever gets the index of another.
package struct ClusterNode: Hashable, Comparable, Sendable {
    /// The index.
    package let index: UInt8

    /// The node with an index. *Traps*: if the index is 0.
    package init(_ index: UInt8) {
        precondition(index > 0, "nodes are counted from 1")
        self.index = index
    }

    /// The node with an index from outside; nil for 0.
    package init?(validating index: UInt8) {
        guard index > 0 else { return nil }
        self.index = index
    }

    package static func < (left: ClusterNode, right: ClusterNode) -> Bool {
        left.index < right.index
    }
}
