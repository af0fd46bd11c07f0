/// Makes a node addressable by the header's `id`.
@WireCodable
@MemberwiseInit
package struct Open: Equatable, Sendable {
    /// Path of the node, such as `/team/lock`.
    package var path: String
}

/// Answers ``Open``.
@WireCodable
@MemberwiseInit
package struct Opened: Equatable, Sendable {
    /// The reactor's type, by the author's name.
    package var reactor: String
    /// Fingerprint of the reactor's types: see ``WireSchema/fingerprint``.
    package var fingerprint: UInt64
    /// Sequence of the last change of the node or of a node below it.
    package var sequence: UInt64
}

/// Conditions and options of an action.
@MemberwiseInit
public struct DispatchOptions: WireCodable, Equatable, Sendable {
    /// Apply only if the node is still at this revision.
    public var expected: Revision?
    /// Reject the action if it has not been applied within this many milliseconds after its
    /// arrival.
    public var deadline: UInt32?
    /// Name of the action's effects, scoped to node and session: the daemon first cancels running
    /// effects of that name. Without an action, it only cancels.
    public var cancel: String?
    /// The durability that the outcome must confirm, if more than the daemon's default.
    public var ack: AckLevel?
    /// What a connection owns at the node and loses. There is no action then, and no other option.
    public var release: OwnershipRelease?
}

/// A part of what a connection owns: it loses that as if it had ended.
@WireCodable
@MemberwiseInit
public struct OwnershipRelease: Equatable, Sendable {
    /// The connection's number, as in the daemon's list of clients.
    public var connection: UInt64
    /// The owned key; null for all keys of the connection at the node.
    public var key: WireKey?
}

extension DispatchOptions {
    /// Encodes `release` alone if there is one: other options have the bytes that they had before
    /// there was such a field.
    public func encode(into writer: inout WireWriter) {
        if let release {
            DispatchForm.Releasing(release: release).encode(into: &writer)
        } else {
            DispatchForm.Plain(expected: expected, deadline: deadline, cancel: cancel, ack: ack)
                .encode(into: &writer)
        }
    }

    /// Decodes the options; each may be missing.
    public static func decode(
        _ bytes: Span<UInt8>, _ cursor: inout WireCursor
    ) throws(WireError) -> DispatchOptions {
        let form = try DispatchForm.Whole.decode(bytes, &cursor)
        return DispatchOptions(
            expected: form.expected, deadline: form.deadline, cancel: form.cancel, ack: form.ack,
            release: form.release)
    }

    /// The shape of all options.
    public static var wireSchema: WireSchema { DispatchForm.Whole.wireSchema }
}

/// The encodings of ``DispatchOptions``.
private enum DispatchForm {
    @WireCodable
    struct Plain {
        var expected: Revision?
        var deadline: UInt32?
        var cancel: String?
        var ack: AckLevel?
    }

    @WireCodable
    struct Releasing {
        var release: OwnershipRelease
    }

    @WireCodable
    struct Whole {
        var expected: Revision?
        var deadline: UInt32?
        var cancel: String?
        var ack: AckLevel?
        var release: OwnershipRelease?
    }
}

/// The durability of an action when the daemon sends its outcome.
@WireCodable
public enum AckLevel: String, CaseIterable, Sendable {
    /// As the daemon's setting defines.
    case applied
    /// On the disk, safe against a power cut. A daemon without a journal refuses it.
    case durable
}

/// Requests a slice: its state now and every change.
@MemberwiseInit
package struct Subscribe: WireCodable, Equatable, Sendable {
    /// Path of a node; in value mode, followed by a path into its state.
    package var path: String
    /// Whether to send mutations or values.
    package var mode: SubscriptionMode = .value
    /// The revision of this slice that the client already has.
    package var from: Revision?
    /// Whether the daemon may send only the changes of a value that the client has: see
    /// ``FrameFlags/patch``.
    package var patches: Bool = false
    /// The children to show, in the mode ``SubscriptionMode/selection``.
    package var selection: Selection?
}

/// How the daemon keeps a slice up to date.
@WireCodable
package enum SubscriptionMode: String, CaseIterable, Sendable {
    /// A snapshot, then every mutation: for a client with the reactor's type.
    case replica
    /// The value; intermediate values may be skipped.
    case value
    // A mode, not only a field: an older daemon refuses an unknown mode, and would skip an unknown
    // field and show every child.
    /// The value of some children of a collection: see ``Subscribe/selection``.
    case selection
}

extension Subscribe {
    /// Encodes `selection` only if there is one: other requests have the bytes that they had before
    /// there was such a field.
    package func encode(into writer: inout WireWriter) {
        if let selection {
            SubscribeForm.Selecting(
                path: path, mode: mode, from: from, patches: patches, selection: selection
            ).encode(into: &writer)
        } else {
            SubscribeForm.Plain(path: path, mode: mode, from: from, patches: patches)
                .encode(into: &writer)
        }
    }

    package static func decode(
        _ bytes: Span<UInt8>, _ cursor: inout WireCursor
    ) throws(WireError) -> Subscribe {
        let form = try SubscribeForm.Selecting.decode(bytes, &cursor)
        return Subscribe(
            path: form.path, mode: form.mode, from: form.from, patches: form.patches,
            selection: form.selection)
    }

    package static var wireSchema: WireSchema { SubscribeForm.Selecting.wireSchema }
}

/// The two encodings of ``Subscribe``.
private enum SubscribeForm {
    @WireCodable
    struct Plain {
        var path: String
        var mode: SubscriptionMode = .value
        var from: Revision?
        var patches: Bool = false
    }

    @WireCodable
    struct Selecting {
        var path: String
        var mode: SubscriptionMode = .value
        var from: Revision?
        var patches: Bool = false
        var selection: Selection?
    }
}

/// Answers ``Subscribe``.
@WireCodable
@MemberwiseInit
package struct Subscribed: Equatable, Sendable {
    /// The start of the slice: nothing to send, the deltas since ``Subscribe/from``, or a snapshot.
    package var start: Start
    /// The reactor's type, by the author's name.
    package var reactor: String
    /// Fingerprint of the reactor's types.
    package var fingerprint: UInt64
    /// Sequence at which the subscription starts.
    package var sequence: UInt64
    /// Whether the shown value depends on more than the node's state: a client that shows the same
    /// must follow the value, not the mutations.
    package var byValue: Bool = false

    /// The first frames of a subscription.
    @WireCodable
    package enum Start: String, CaseIterable, Sendable {
        case unchanged
        case deltas
        case snapshot
    }
}

/// A request that was not granted.
@WireCodable
public struct Refusal: Equatable, Sendable, Error {
    /// The reason, for programs.
    public var code: FaultCode
    /// The reason, for people to read.
    public var message: String
    /// For a path, or a field of a selection, that does not exist: the nearest existing one.
    public var nearest: String?

    /// Makes a refusal.
    public init(_ code: FaultCode, _ message: String, nearest: String? = nil) {
        self.code = code
        self.message = message
        self.nearest = nearest
    }
}

/// A request that changes nothing.
@WireCodable
package enum Question: Equatable, Sendable {
    /// The value of a slice. The answer is a ``Revision``, a bool that says whether the slice has a
    /// value, and the value.
    case get(path: String)
    /// The value of a selection of a collection's children. The answer has the form of that to
    /// ``get(path:)``.
    case select(path: String, selection: Selection)
    /// The types and the documentation of a node. The answer is a ``NodeDescription``.
    case describe(path: String)
    /// All nodes, parents before children. The answer is an array of ``TreeEntry``.
    case tree
    /// The daemon's counters. The answer is a map from name to number.
    case stats
    /// The daemon's limits. The answer is a map from name to number.
    case limits
    /// The value of a slice at a past revision. The answer has the form of that to ``get(path:)``.
    case past(path: String, at: Revision)
    /// Takes a snapshot of the current revision. The answer is a ``SnapshotMade``.
    case snapshot
    /// Copies the history to a new directory of the daemon's machine; only for the daemon's own
    /// user and root. With `forNode`, the copy is for another daemon of the cluster, and begins no
    /// epoch. The answer is a ``BackupMade``.
    case backup(to: String, forNode: Bool = false)
    /// Makes a dated backup in a directory of the daemon's machine, and removes older ones beyond
    /// the newest `keep`; only for the daemon's own user and root. The answer is a ``BackupsKept``.
    case keepBackup(in: String, keep: UInt64)
    /// The events at and below a node, from a revision on or after a mark. The answer is a
    /// ``LogPage``. With `waits`, the daemon sends an empty page only after waiting for an event.
    case log(path: String, from: Revision? = nil, after: LogMark? = nil, waits: Bool = false)
    /// The states of a node and all nodes below it at one revision, by default the last recorded
    /// one. The answer is a ``StatePage``.
    case export(path: String, at: Revision? = nil, skip: UInt64 = 0)
    /// The checksum of a slice, to verify a follower's copy. The answer is a ``SliceChecksum`` as
    /// of the end of the turn.
    case checksum(path: String, mode: SubscriptionMode = .replica)
    /// The types that a mirror of a node, or of the children of a collection, is compared with. The
    /// answer is a ``NodeTypes``.
    case types(path: String)
    /// The daemon's metrics. The answer is a text in the text format of Prometheus.
    case metrics
    /// The open connections, in the order of their arrival; only for the daemon's own user and
    /// root. The answer is an array of ``ClientEntry``.
    case clients
    /// Closes a connection; only for the daemon's own user and root. The answer is the connection's
    /// ``ClientEntry``.
    case kick(connection: UInt64)
    /// The latest operations that took long, after the entry with a number; only for the daemon's
    /// own user and root. The answer is an array of ``SlowEntry``, oldest first.
    case slowLog(after: UInt64 = 0)
    /// Figures for a live view; only for the daemon's own user and root. The answer is a
    /// ``DaemonActivity``.
    case activity
    /// Reads the configuration again and applies it; a dry run only compares. Only for the daemon's
    /// own user and root. The answer is a ``ReloadReport``.
    case reload(isDryRun: Bool = false)
    /// Hands the daemon over to a new process, which keeps the connections; clients wait for at most
    /// `pauseMax` milliseconds. Only for the daemon's own user and root. The answer is a
    /// ``RestartReport``.
    case restart(pauseMax: UInt64 = 5_000)
    /// The daemon's part in its cluster. The answer is a ``ClusterStatus``.
    case cluster
    /// Makes the leading daemon of a cluster hand over to the node of this name, or to any other;
    /// only for the daemon's own user and root. The answer is a ``ClusterStatus`` as of the request.
    case stepDown(to: String? = nil)
    /// A barrier: the daemon answers once its state includes `atLeast`, and, with `isCurrent`, once it
    /// includes whatever any daemon of the cluster had confirmed when the question came. It refuses
    /// with ``FaultCode/deadline`` after `within` milliseconds. Questions that follow the answer are
    /// answered from that state, or a later one. The answer is a ``Synced``.
    case sync(atLeast: Revision? = nil, isCurrent: Bool = false, within: UInt32 = 5_000)
}

/// Answer to ``Question/sync(atLeast:isCurrent:within:)``.
@WireCodable
@MemberwiseInit
package struct Synced: Equatable, Sendable {
    /// The revision of the daemon's state.
    package var revision: Revision
    /// The age of that state in milliseconds: at most this time ago, it was the state of the whole
    /// cluster. 0 in a daemon that is alone; null if the daemon does not know.
    package var age: UInt64?
}

/// Answer to ``Question/types(path:)``.
@WireCodable
@MemberwiseInit
package struct NodeTypes: Equatable, Sendable {
    /// The reactor's type, by the author's name, or `collection of` and the children's type.
    package var reactor: String
    /// Names that the type had before.
    package var formerNames: [String]
    /// Fingerprint of the types, in a collection of the children's.
    package var fingerprint: UInt64
    /// Shape of the state, in a collection of a child's.
    package var state: WireSchema
    /// ``Subscribed/byValue``.
    package var byValue: Bool
}

/// Answer to ``Question/checksum(path:mode:)``.
@WireCodable
@MemberwiseInit
package struct SliceChecksum: Equatable, Sendable {
    /// The revision of the whole tree to which the checksum refers: that of the turn's mark.
    package var revision: Revision
    /// ``WireChecksum`` of the body of a snapshot, or a value, of the slice.
    package var checksum: UInt64
}

/// Answer to ``Question/describe(path:)``.
@WireCodable
@MemberwiseInit
public struct NodeDescription: Equatable, Sendable {
    /// Path of the node.
    public var path: String
    /// The reactor's type, by the author's name.
    public var reactor: String
    /// Its documentation; empty if the author wrote none.
    public var doc: String
    /// Fingerprint of its types.
    public var fingerprint: UInt64
    /// Shape of the actions.
    public var action: WireSchema
    /// Shape of the state.
    public var state: WireSchema
    /// Shape of the mutations that mirrors receive.
    public var mutation: WireSchema
    /// Shape of the replies beyond "applied", if the reactor replies.
    public var reply: WireSchema?
    /// Names of the nodes below it.
    public var children: [String]
    /// Its derived values, in ascending order of their names.
    public var derived: [DerivedDescription] = []
}

/// A derived value of a reactor, in a ``NodeDescription``.
@WireCodable
@MemberwiseInit
public struct DerivedDescription: Equatable, Sendable {
    /// The name of the value below its reactor.
    public var name: String
    /// Its documentation; empty if the author wrote none.
    public var doc: String
    /// Shape of the value.
    public var value: WireSchema
}

/// One node in the answer to ``Question/tree``.
@WireCodable
@MemberwiseInit
public struct TreeEntry: Equatable, Sendable {
    /// Path of the node.
    public var path: String
    /// The reactor's type, by the author's name.
    public var reactor: String
    /// Sequence of the last change of the node or of a node below it.
    public var sequence: UInt64
}
