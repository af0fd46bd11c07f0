/// Answer to ``Ask/snapshot``.
@WireCodable
public struct SnapshotMade: Equatable, Sendable {
    /// The journal's row as of which it is.
    public var row: UInt64
    /// The revision of that row.
    public var revision: Revision
    /// The file.
    public var file: String

    /// Names a snapshot.
    public init(row: UInt64, revision: Revision, file: String) {
        self.row = row
        self.revision = revision
        self.file = file
    }
}

/// Answer to ``Ask/backup(to:)``.
@WireCodable
public struct BackupMade: Equatable, Sendable {
    /// The last row in it.
    public var row: UInt64
    /// The revision of that row.
    public var revision: Revision
    /// The directory.
    public var directory: String

    /// Names a backup.
    public init(row: UInt64, revision: Revision, directory: String) {
        self.row = row
        self.revision = revision
        self.directory = directory
    }
}

/// A place in a daemon's log, behind which the next page begins.
@WireCodable
public struct LogMark: Hashable, Sendable {
    /// The last row of the journal of which everything was told.
    public var row: UInt64
    /// Entries of the row behind it that were told.
    public var skip: UInt64

    /// Names a place.
    public init(row: UInt64, skip: UInt64) {
        self.row = row
        self.skip = skip
    }
}

/// Answer to ``Ask/log(path:from:after:waits:)``: what comes next, as much as fits a page.
@WireCodable
public struct LogPage: Equatable, Sendable {
    /// In the order in which it happened; may be empty.
    public var entries: [LogEntry]
    /// Where the next page begins.
    public var position: LogMark
    /// Whether that is the end, for now.
    public var isEnd: Bool
    /// Behind which revision the history that is kept begins.
    public var begin: Revision

    /// Makes a page.
    public init(entries: [LogEntry], position: LogMark, isEnd: Bool, begin: Revision) {
        self.entries = entries
        self.position = position
        self.isEnd = isEnd
        self.begin = begin
    }
}

/// One transaction of the past, or one action that came to nothing.
@WireCodable
public struct LogEntry: Equatable, Sendable {
    /// The transaction's; none where there was no transaction.
    public var revision: Revision?
    /// When it was written down, in milliseconds since 1970.
    public var time: Int64
    /// Whose action caused it; zeros where the daemon did.
    public var origin: Origin
    /// Who that was; none where the action is of an earlier turn, or nobody's.
    public var caller: LogCaller?
    /// What came: one action, or those of a batch; none where the change is a consequence.
    public var actions: [LogAction]
    /// What became of it; none where the answer came in a later turn.
    public var outcome: Outcome?
    /// What changed, in order.
    public var mutations: [LogMutation]
    /// Nodes whose states were replaced by an import.
    public var replaced: [String]
    /// The action that came, where it was refused and too large to be kept.
    public var omitted: LogOmission?

    /// Makes an entry without content.
    public init(revision: Revision? = nil, time: Int64, origin: Origin = .daemon) {
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

/// A refused action that is not kept.
@WireCodable
public struct LogOmission: Equatable, Sendable {
    /// The nodes that it was sent to.
    public var paths: [String]
    /// How long its frame was, header included.
    public var byteCount: UInt64
    /// The ``WireChecksum`` of its frame.
    public var checksum: UInt64

    /// Describes an action by its size and its checksum.
    public init(paths: [String], byteCount: UInt64, checksum: UInt64) {
        self.paths = paths
        self.byteCount = byteCount
        self.checksum = checksum
    }
}

/// Who sent an action, as the kernel said.
@WireCodable
public struct LogCaller: Equatable, Sendable {
    /// User.
    public var uid: UInt32
    /// Group.
    public var gid: UInt32
    /// Process.
    public var pid: Int32

    /// Names a process.
    public init(uid: UInt32, gid: UInt32, pid: Int32) {
        self.uid = uid
        self.gid = gid
        self.pid = pid
    }
}

/// An action of the past.
///
/// Its bytes are the client's; what is told are the daemon's, in deterministic form, so that one
/// client cannot make a page that another cannot read.
@WireCodable
public struct LogAction: Equatable, Sendable {
    /// The node that it was sent to; the root for a batch that cannot be taken to pieces.
    public var path: String
    /// The action, or a byte string of it where ``isRaw`` says so.
    public var action: WireEmbedded
    /// Whether ``action`` is a byte string of what came, which is no value of the wire: such an
    /// action was refused.
    public var isRaw = false

    /// Describes an action.
    public init(path: String, action: WireEmbedded, isRaw: Bool = false) {
        self.path = path
        self.action = action
        self.isRaw = isRaw
    }

    /// Describes an action by the bytes that came: as a value where they are one, else as a byte
    /// string.
    public init(path: String, bytes: Span<UInt8>) {
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

/// A change of the past.
@WireCodable
public struct LogMutation: Equatable, Sendable {
    /// The node that changed.
    public var path: String
    /// Its mutation; a child's coming or going where ``isStructural`` says so.
    public var mutation: WireEmbedded
    /// Whether the tree changed, and not a state.
    public var isStructural: Bool

    /// Describes a change.
    public init(path: String, mutation: WireEmbedded, isStructural: Bool) {
        self.path = path
        self.mutation = mutation
        self.isStructural = isStructural
    }
}

/// Answer to ``Ask/export(path:at:skip:)``: nodes with their own states, as many as fit a page.
@WireCodable
public struct StatePage: Equatable, Sendable {
    /// The revision that all pages are of.
    public var revision: Revision
    /// Parents before children.
    public var nodes: [StateOfNode]
    /// How many nodes to skip for the next page; none behind the last.
    public var next: UInt64?

    /// Makes a page.
    public init(revision: Revision, nodes: [StateOfNode], next: UInt64?) {
        self.revision = revision
        self.nodes = nodes
        self.next = next
    }
}

/// A node's own state, without those of its children.
@WireCodable
public struct StateOfNode: Equatable, Sendable {
    /// Where it stands.
    public var path: String
    /// The reactor's type, by the author's name.
    public var reactor: String
    /// What it holds.
    public var state: WireEmbedded

    /// Describes a node.
    public init(path: String, reactor: String, state: WireEmbedded) {
        self.path = path
        self.reactor = reactor
        self.state = state
    }
}
