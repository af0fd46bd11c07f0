/// Makes a node addressable by the header's `id`.
@WireCodable
public struct Open: Equatable, Sendable {
    /// Path of the node, such as `/team/lock`.
    public var path: String

    /// Asks for a node.
    public init(path: String) { self.path = path }
}

/// Answers ``Open``.
@WireCodable
public struct Opened: Equatable, Sendable {
    /// The reactor's type, by the author's name.
    public var reactor: String
    /// Fingerprint of the reactor's types: see ``WireSchema/fingerprint``.
    public var fingerprint: UInt64
    /// Sequence of the last change of the node or of one below it.
    public var sequence: UInt64

    /// Makes an answer.
    public init(reactor: String, fingerprint: UInt64, sequence: UInt64) {
        self.reactor = reactor
        self.fingerprint = fingerprint
        self.sequence = sequence
    }
}

/// Conditions and wishes that travel with an action.
@WireCodable
public struct DispatchOptions: Equatable, Sendable {
    /// Apply only if the node is still at this revision.
    public var expected: Revision?
    /// Reject if it has not been applied within this many milliseconds after its arrival.
    public var deadline: UInt32?
    /// Name of the action's effects, scoped to node and session: those that run under it are
    /// cancelled first. An action may be left out, where that is all that is wanted.
    public var cancel: String?
    /// What its outcome is to mean, if more than the daemon's own durability makes of it.
    public var ack: AckLevel?

    /// Makes conditions; none hold where none are given.
    public init(
        expected: Revision? = nil, deadline: UInt32? = nil, cancel: String? = nil,
        ack: AckLevel? = nil
    ) {
        self.expected = expected
        self.deadline = deadline
        self.cancel = cancel
        self.ack = ack
    }
}

/// What an action has survived when its outcome is told.
@WireCodable
public enum AckLevel: String, CaseIterable, Sendable {
    /// What the daemon's durability says.
    case applied
    /// A power cut: it is on the disk. Refused by a daemon that keeps no history.
    case durable
}

/// Asks for a slice, now and at every change.
@WireCodable
public struct Subscribe: Equatable, Sendable {
    /// Path of a node, followed by a path into its state in value mode.
    public var path: String
    /// Whether mutations are wanted, or values.
    public var mode: SubscriptionMode = .value
    /// The revision that the client already holds of this slice.
    public var from: Revision?
    /// Whether a value that the client has up to date may be followed by what changed of it alone:
    /// see ``FrameFlags/patch``.
    public var patches: Bool = false

    /// Asks for a slice.
    public init(
        path: String, mode: SubscriptionMode = .value, from: Revision? = nil,
        patches: Bool = false
    ) {
        self.path = path
        self.mode = mode
        self.from = from
        self.patches = patches
    }
}

/// How a slice is kept up to date.
@WireCodable
public enum SubscriptionMode: String, CaseIterable, Sendable {
    /// A snapshot, then every mutation: for a client that has the reactor's type.
    case replica
    /// The value, conflated to the latest.
    case value
}

/// Answers ``Subscribe``.
@WireCodable
public struct Subscribed: Equatable, Sendable {
    /// How the slice starts: nothing to send, the deltas since ``Subscribe/from``, or a snapshot.
    public var start: Start
    /// The reactor's type, by the author's name.
    public var reactor: String
    /// Fingerprint of the reactor's types.
    public var fingerprint: UInt64
    /// Sequence at which the subscription starts.
    public var sequence: UInt64
    /// Whether what the node shows is no matter of its state alone: who is to show the same follows
    /// the value, not the mutations.
    public var byValue: Bool = false

    /// Makes an answer.
    public init(
        start: Start, reactor: String, fingerprint: UInt64, sequence: UInt64, byValue: Bool = false
    ) {
        self.start = start
        self.reactor = reactor
        self.fingerprint = fingerprint
        self.sequence = sequence
        self.byValue = byValue
    }

    /// What comes first.
    @WireCodable
    public enum Start: String, CaseIterable, Sendable {
        case unchanged
        case deltas
        case snapshot
    }
}

/// A request that was not granted.
@WireCodable
public struct Refusal: Equatable, Sendable, Error {
    /// Why, for programs.
    public var code: FaultCode
    /// Why, for people.
    public var message: String
    /// For a path that does not exist: the nearest one that does.
    public var nearest: String?

    /// Makes a refusal.
    public init(_ code: FaultCode, _ message: String, nearest: String? = nil) {
        self.code = code
        self.message = message
        self.nearest = nearest
    }
}

/// A question that changes nothing.
@WireCodable
public enum Ask: Equatable, Sendable {
    /// The value of a slice: the answer is a ``Revision``, a bool that says whether something
    /// stands there, and the value.
    case get(path: String)
    /// What can be sent to a node and what it holds: the answer is a ``NodeDescription``.
    case describe(path: String)
    /// All nodes, parents before children: the answer is an array of ``TreeEntry``.
    case tree
    /// The daemon's counters: the answer is a map from name to number.
    case stats
    /// The daemon's limits: the answer is a map from name to number.
    case limits
    /// The value of a slice as it was at a revision of the past: the answer is that to
    /// ``get(path:)``.
    case past(path: String, at: Revision)
    /// A snapshot, of the revision at hand: the answer is a ``SnapshotMade``.
    case snapshot
    /// A copy of the history in a new directory of the daemon's machine, for the daemon's own user
    /// and root: the answer is a ``BackupMade``.
    case backup(to: String)
    /// What happened at or below a node, from a revision on or behind a mark: the answer is a
    /// ``LogPage``. One that would be empty waits for something to happen, if it is to.
    case log(path: String, from: Revision? = nil, after: LogMark? = nil, waits: Bool = false)
    /// The states of a node and all below it, as they were at one revision, by default the last
    /// that is kept: the answer is a ``StatePage``.
    case export(path: String, at: Revision? = nil, skip: UInt64 = 0)
    /// What a follower of a slice must hold: the answer is a ``SliceChecksum``, as of the end of the
    /// turn.
    case checksum(path: String, mode: SubscriptionMode = .replica)
}

/// Answer to ``Ask/checksum(path:mode:)``.
@WireCodable
public struct SliceChecksum: Equatable, Sendable {
    /// The revision of the whole tree that the checksum is as of: that of the turn's mark.
    public var revision: Revision
    /// ``WireChecksum`` of the body that a snapshot, or a value, of the slice would have.
    public var checksum: UInt64

    /// Makes an answer.
    public init(revision: Revision, checksum: UInt64) {
        self.revision = revision
        self.checksum = checksum
    }
}

/// Answer to ``Ask/describe(path:)``.
@WireCodable
public struct NodeDescription: Equatable, Sendable {
    /// Path of the node.
    public var path: String
    /// The reactor's type, by the author's name.
    public var reactor: String
    /// What it is for; empty if nobody wrote it.
    public var doc: String
    /// Fingerprint of its types.
    public var fingerprint: UInt64
    /// What can be sent to it.
    public var action: WireSchema
    /// What it holds.
    public var state: WireSchema
    /// What it tells its mirrors.
    public var mutation: WireSchema
    /// What it answers beyond "applied", if it does.
    public var reply: WireSchema?
    /// Names of the nodes below it.
    public var children: [String]

    /// Describes a node.
    public init(
        path: String, reactor: String, doc: String, fingerprint: UInt64, action: WireSchema,
        state: WireSchema, mutation: WireSchema, reply: WireSchema?, children: [String]
    ) {
        self.path = path
        self.reactor = reactor
        self.doc = doc
        self.fingerprint = fingerprint
        self.action = action
        self.state = state
        self.mutation = mutation
        self.reply = reply
        self.children = children
    }
}

/// One node in the answer to ``Ask/tree``.
@WireCodable
public struct TreeEntry: Equatable, Sendable {
    /// Path of the node.
    public var path: String
    /// The reactor's type, by the author's name.
    public var reactor: String
    /// Sequence of the last change of the node or of one below it.
    public var sequence: UInt64

    /// Lists a node.
    public init(path: String, reactor: String, sequence: UInt64) {
        self.path = path
        self.reactor = reactor
        self.sequence = sequence
    }
}
