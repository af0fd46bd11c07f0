/// Answer to ``Question/snapshot``.
@WireCodable
@MemberwiseInit
package struct SnapshotMade: Equatable, Sendable {
    /// The journal's row of the snapshot.
    package var row: UInt64
    /// The revision of that row.
    package var revision: Revision
    /// Path of the file.
    package var file: String
}

/// Answer to ``Question/backup(to:)``.
@WireCodable
@MemberwiseInit
package struct BackupMade: Equatable, Sendable {
    /// The last row in the backup.
    package var row: UInt64
    /// The revision of that row.
    package var revision: Revision
    /// Path of the directory.
    package var directory: String
}

/// Answer to ``Question/keepBackup(in:keep:)``.
@WireCodable
@MemberwiseInit
package struct BackupsKept: Equatable, Sendable {
    /// The new backup.
    package var made: BackupMade
    /// Number of complete and undamaged backups in the directory, with the new one.
    package var kept: UInt64
    /// Names of the removed backups.
    package var removed: [String]
    /// A line for each backup that was neither counted nor removed, such as a damaged one.
    package var problems: [String]
}

/// A position in a daemon's log; the next page begins after it.
@WireCodable
@MemberwiseInit
package struct LogMark: Hashable, Sendable {
    /// The last row of the journal that was sent completely.
    package var row: UInt64
    /// Number of entries of the next row that were sent.
    package var skip: UInt64
}

/// Answer to ``Question/log(path:from:after:waits:)``: the next entries, as many as fit a page.
@WireCodable
@MemberwiseInit
package struct LogPage: Equatable, Sendable {
    /// The entries, in the order of the events; may be empty.
    package var entries: [LogEntry]
    /// The position after the last entry.
    package var position: LogMark
    /// Whether there are no later entries yet.
    package var isEnd: Bool
    /// The revision after which the recorded history begins.
    package var begin: Revision
}

/// A past transaction, or an action that was not applied.
@WireCodable
package struct LogEntry: Equatable, Sendable {
    /// The transaction's revision; `nil` without a transaction.
    package var revision: Revision?
    /// Time of the record, in milliseconds since 1970.
    package var time: Int64
    /// The action that caused the entry; zeros for the daemon itself.
    package var origin: Origin
    /// The sender; `nil` if the action is of an earlier turn, or the daemon's own.
    package var caller: LogCaller?
    /// The action, or those of a batch; empty if the change is a consequence of another entry.
    package var actions: [LogAction]
    /// The outcome; `nil` if the answer came in a later turn.
    package var outcome: Outcome?
    /// The changes, in order.
    package var mutations: [LogMutation]
    /// Nodes whose states an import replaced.
    package var replaced: [String]
    /// The action, if it was refused and too large to be recorded.
    package var omitted: LogOmission?

    /// Makes an entry without content.
    package init(revision: Revision? = nil, time: Int64, origin: Origin = .daemon) {
        self.revision = revision
        self.time = time
        self.origin = origin
        caller = nil
        actions = []
        outcome = nil
        mutations = []
        replaced = []
    }
}

/// A refused action that the journal does not contain.
@WireCodable
@MemberwiseInit
package struct LogOmission: Equatable, Sendable {
    /// Paths of the nodes that the action was sent to.
    package var paths: [String]
    /// Length of the action's frame in bytes, header included.
    package var byteCount: UInt64
    /// ``WireChecksum`` of the action's frame.
    package var checksum: UInt64
}

/// The sender of an action, as attested by the kernel.
@WireCodable
@MemberwiseInit
package struct LogCaller: Equatable, Sendable {
    /// User id.
    package var uid: UInt32
    /// Group id.
    package var gid: UInt32
    /// Process id.
    package var pid: Int32
}

/// A past action.
///
/// The daemon encodes it again in deterministic form, so that one client cannot produce a page that
/// another cannot read.
@WireCodable
@MemberwiseInit
package struct LogAction: Equatable, Sendable {
    /// The node that the action was sent to; the root for a batch that cannot be decoded.
    package var path: String
    /// The action; a byte string of it if ``isRaw``.
    package var action: WireEmbedded
    /// Whether ``action`` is a byte string of the received bytes, which are no value of the wire.
    /// Such an action was refused.
    package var isRaw = false

    /// Makes an entry of the received bytes: as a value if they are one, else as a byte string.
    package init(path: String, bytes: Span<UInt8>) {
        self.path = path
        var cursor = WireCursor(action: 0)
        if let value = try? WireValue.decode(bytes, &cursor), cursor.offset == bytes.count {
            action = WireEmbedded(value)
        } else {
            var copy: [UInt8] = []
            copy.append(contentsOf: bytes, 0..<bytes.count)
            action = WireEmbedded(WireValue.bytes(copy))
            isRaw = true
        }
    }
}

/// A past change.
@WireCodable
@MemberwiseInit
package struct LogMutation: Equatable, Sendable {
    /// The node that changed.
    package var path: String
    /// Its mutation; a ``StructuralChange`` in encoded form if ``isStructural``.
    package var mutation: WireEmbedded
    /// Whether the change created or removed a child, instead of changing a state.
    package var isStructural: Bool
}

/// Answer to ``Question/export(path:at:skip:)``: nodes with their own states, as many as fit a page.
@WireCodable
@MemberwiseInit
package struct StatePage: Equatable, Sendable {
    /// The revision of all pages.
    package var revision: Revision
    /// Parents before children.
    package var nodes: [StateOfNode]
    /// The `skip` of the next page; `nil` after the last.
    package var next: UInt64?
}

/// A node's own state, without those of its children.
@WireCodable
@MemberwiseInit
package struct StateOfNode: Equatable, Sendable {
    /// Path of the node.
    package var path: String
    /// The reactor's type, by the author's name.
    package var reactor: String
    /// The state.
    package var state: WireEmbedded
}
