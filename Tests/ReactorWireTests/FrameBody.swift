import ReactorWire
import Testing

/// The messages encoded in one golden body, one after another.
struct FrameBody: Sendable, CustomTestStringConvertible {
    typealias Part = WireCodable & Equatable & Sendable

    var vector: String
    var parts: [any Part]

    init(_ vector: String, _ parts: any Part...) {
        self.vector = vector
        self.parts = parts
    }

    var testDescription: String { vector }

    func encoded() -> [UInt8] {
        var writer = WireWriter()
        for part in parts { part.encode(into: &writer) }
        return writer.bytes
    }

    /// Decodes all parts from `bytes`, and requires that nothing follows.
    func checkDecoding(of bytes: [UInt8]) throws {
        var cursor = WireCursor()
        for part in parts { try Self.check(part, bytes, &cursor) }
        try #require(cursor.offset == bytes.count)
    }

    private static func check<Value: Part>(
        _ value: Value, _ bytes: [UInt8], _ cursor: inout WireCursor
    ) throws {
        let decoded = try Value.decode(bytes.span, &cursor)
        try #require(decoded == value)
    }

    /// Vectors whose bodies are empty, an action, or a part of another body.
    static let untyped = [
        "goodbye", "dispatch", "dispatch-empty", "dispatch-bare", "dispatch-single",
        "dispatch-several", "dispatch-awaited", "batch", "done", "confirm", "snapshot",
        "snapshot-part", "snapshot-end",
        "snapshot-fresh", "snapshot-fresh-end", "delta-created", "delta-removed", "value",
        "value-part", "value-end", "value-absent", "mark", "lag", "gone", "unsubscribe",
        "answer-part", "ping", "pong",
    ]

    static let all = handshake + actions + slices + questions + administration
}

extension FrameBody {
    private static let epoch: UInt64 = 0x9f86_d081_884c_7d65
    private static let counter: UInt64 = 0x6a09_e667_f3bc_c908
    private static let session = [UInt8](0x10...0x1f)

    private static func welcome(
        sequence: UInt64, isResumed: Bool, ordinal: UInt64
    ) -> Welcome {
        Welcome(
            version: 1, daemon: "reactord 0.1.0", epoch: epoch, sequence: sequence,
            session: session, isResumed: isResumed, client: 7, connection: 12,
            ordinal: ordinal,
            limits: Welcome.Limits(
                frameBytesMax: 1 << 20, inFlightMax: 1_024, nodesMax: 4_096, subscriptionsMax: 256))
    }

    private static let handshake = [
        FrameBody("hello", Hello(program: "demo")),
        FrameBody(
            "hello-resume",
            Hello(
                session: session, confirmed: 3, applied: 2, program: "demo", epoch: epoch,
                since: 41)),
        FrameBody("welcome", welcome(sequence: 41, isResumed: false, ordinal: 0)),
        FrameBody("welcome-resumed", welcome(sequence: 50, isResumed: true, ordinal: 5)),
        FrameBody(
            "closing", Closing(.framing, "frame at byte 90: reserved bits are set", offset: 90)),
        FrameBody(
            "closing-version",
            Closing(
                .version, "the client speaks versions 2 to 3, the daemon 1", versionMin: 1,
                versionMax: 1)),
    ]

    private static let pairs: WireValue = [
        [1, ["increment": ["by": 1]]], [2, ["set": ["key": "theme", "value": "dark"]]],
    ]

    private static let actions = [
        FrameBody("open", Open(path: "/visits")),
        FrameBody("opened", Opened(reactor: "Counter", fingerprint: counter, sequence: 40)),
        FrameBody(
            "refused",
            Refusal(
                .notFound, "no node or field at /vists, the path exists up to /",
                nearest: "/visits")),
        FrameBody(
            "dispatch-conditions",
            DispatchOptions(expected: Revision(epoch: epoch, sequence: 42)),
            ["reset": [:]] as WireValue),
        FrameBody(
            "dispatch-wishes", DispatchOptions(deadline: 1_000, cancel: "import"),
            ["increment": ["by": 5]] as WireValue),
        FrameBody("dispatch-cancel", DispatchOptions(cancel: "import")),
        FrameBody(
            "dispatch-release",
            DispatchOptions(release: OwnershipRelease(connection: 7, key: "42"))),
        FrameBody(
            "dispatch-durable", DispatchOptions(ack: .durable),
            ["increment": ["by": 5]] as WireValue),
        FrameBody(
            "batch-conditions", DispatchOptions(expected: Revision(epoch: epoch, sequence: 42)),
            pairs),
        FrameBody("applied", 42 as UInt64),
        FrameBody(
            "outcome", Outcome.applied(sequence: 45, reply: WireEmbedded(["token": 7] as WireValue))
        ),
        FrameBody("outcome-repeated", Outcome.applied(sequence: 43)),
        FrameBody(
            "outcome-ended",
            Outcome.applied(
                sequence: 45, reply: WireEmbedded(["token": 7] as WireValue), ownerEnded: true)),
        FrameBody("outcome-accepted", Outcome.accepted(sequence: 46)),
        FrameBody(
            "outcome-rejected",
            Outcome.rejected(code: "held", message: "the lock is held by another connection")),
        FrameBody(
            "outcome-conflict",
            Outcome.rejected(
                code: FaultCode.conflict.rawValue,
                message:
                    "/visits changed at revision 9f86d081884c7d65:44, not 9f86d081884c7d65:42")),
        FrameBody("outcome-failed", Outcome.failed(message: "the journal was closed")),
        FrameBody("notice", Notice(code: "effectFailed", message: "connection refused")),
    ]

    private static let slices = [
        FrameBody("subscribe", Subscribe(path: "/settings/entries/theme")),
        FrameBody("subscribe-replica", Subscribe(path: "/visits", mode: .replica)),
        FrameBody(
            "subscribe-resume",
            Subscribe(
                path: "/visits", mode: .replica, from: Revision(epoch: epoch, sequence: 44))),
        FrameBody("subscribe-patches", Subscribe(path: "/settings", patches: true)),
        FrameBody(
            "subscribe-selection",
            Subscribe(
                path: "/projects/build/runs", mode: .selection, patches: true,
                selection: Selection(
                    filter: .all([
                        .compare(field: ["phase"], by: .equal, with: "running"),
                        .compare(field: ["progress"], by: .greater, with: 3),
                    ]),
                    order: [SelectionOrder(field: ["startedAt"], descending: true)], first: 50))),
        FrameBody("subscribed", subscribed(.snapshot, 45)),
        FrameBody("subscribed-deltas", subscribed(.deltas, 44)),
        FrameBody("subscribed-unchanged", subscribed(.unchanged, 45)),
        FrameBody("delta", Origin(client: 7, ordinal: 1), ["added": 5] as WireValue),
        FrameBody(
            "delta-several", Origin(client: 7, ordinal: 8), ["added": 1] as WireValue,
            ["cleared": [:]] as WireValue),
        FrameBody("delta-daemon", Origin.daemon, ["added": 1] as WireValue),
        FrameBody(
            "value-patch", [["entries", "theme"], "dark"] as WireValue,
            [["entries", "font"]] as WireValue),
        FrameBody(
            "value-selection",
            ["order": ["9", "12"], "children": ["9": ["progress": 5], "12": ["progress": 4]]]
                as WireValue),
        FrameBody(
            "value-selection-patch", [["children", "9"]] as WireValue,
            [["children", "14"], ["progress": 7]] as WireValue,
            [["children", "12", "progress"], 6] as WireValue, [["order", "0"]] as WireValue,
            [["order", "0"], "14"] as WireValue),
    ]

    private static func subscribed(_ start: Subscribed.Start, _ sequence: UInt64) -> Subscribed {
        Subscribed(start: start, reactor: "Counter", fingerprint: counter, sequence: sequence)
    }

    private static let revision = Revision(epoch: epoch, sequence: 42)
    private static let questions = [
        FrameBody("ask-get", Question.get(path: "/visits")),
        FrameBody(
            "ask-select",
            Question.select(
                path: "/projects/build/runs",
                selection: Selection(
                    keys: KeyBounds(from: "10"),
                    filter: .not(.among(field: ["labels", "os"], values: ["linux", .null]))))),
        FrameBody("ask-describe", Question.describe(path: "/visits")),
        FrameBody("ask-tree", Question.tree),
        FrameBody("ask-stats", Question.stats),
        FrameBody("ask-limits", Question.limits),
        FrameBody("ask-past", Question.past(path: "/visits", at: revision)),
        FrameBody("ask-snapshot", Question.snapshot),
        FrameBody("ask-backup", Question.backup(to: "/var/backups/monday")),
        FrameBody("ask-keep-backup", Question.keepBackup(in: "/backup", keep: 7)),
        FrameBody("ask-log", Question.log(path: "/visits", from: revision)),
        FrameBody("ask-export", Question.export(path: "/")),
        FrameBody("ask-checksum", Question.checksum(path: "/visits")),
        FrameBody("ask-metrics", Question.metrics),
        FrameBody("ask-clients", Question.clients),
        FrameBody("ask-kick", Question.kick(connection: 7)),
        FrameBody("ask-slow-log", Question.slowLog(after: 2)),
        FrameBody("ask-activity", Question.activity),
        FrameBody("ask-reload", Question.reload(isDryRun: true)),
        FrameBody("ask-restart", Question.restart(pauseMax: 5_000)),
        FrameBody("ask-types", Question.types(path: "/visits")),
        FrameBody("ask-sync", Question.sync(atLeast: revision, isCurrent: true)),
        FrameBody(
            "answer-get",
            [[.integer(WireInteger(isNegative: false, magnitude: epoch)), 45], true, ["count": 5]]
                as WireValue),
        FrameBody(
            "answer-absent",
            [[.integer(WireInteger(isNegative: false, magnitude: epoch)), 45], false, .null]
                as WireValue),
        FrameBody("answer-end", description),
        FrameBody(
            "answer-tree",
            [
                TreeEntry(path: "/", reactor: "Group", sequence: 45),
                TreeEntry(path: "/visits", reactor: "Counter", sequence: 45),
            ]),
        FrameBody(
            "answer-limits", ["frameBytesMax": 1 << 20, "depthMax": 128] as [String: UInt64]),
        FrameBody(
            "answer-sync",
            Synced(revision: Revision(epoch: epoch, sequence: 45), age: 120)),
        FrameBody(
            "answer-checksum",
            SliceChecksum(
                revision: Revision(epoch: epoch, sequence: 45),
                checksum: WireChecksum(of: (["count": 5] as WireValue).wireBytes().span).value)),
    ]

    private static let client = ClientEntry(
        connection: 7, uid: 1_000, gid: 1_000, pid: 4_242, program: "tracker", age: 61_000,
        queueBytes: 512, inputBytes: 0, subscriptions: 2, actions: 45, inFlight: 1)

    private static let administration = [
        FrameBody("answer-clients", [client]),
        FrameBody(
            "answer-reload",
            ReloadReport(applied: ["log.level"], needsRestart: ["socket"], problems: [])),
        FrameBody(
            "answer-restart",
            RestartReport(pid: 4_243, daemon: "reactord 0.2.0", connections: 3, closed: 1)),
        FrameBody(
            "answer-slow-log",
            [
                SlowEntry(
                    number: 3, time: 1_764_000_000_042, kind: .actions, nanoseconds: 12_300_000,
                    connection: 7, uid: 1_000, pid: 4_242, path: "/visits", actions: 16)
            ]),
        FrameBody(
            "answer-activity",
            DaemonActivity(
                time: 61_000_000_000, counters: ["actions": 45], residentBytes: 1 << 25,
                nodes: [NodeActivity(path: "/visits", actions: 45)], otherActions: 2,
                clients: [client], bounds: [100, 250], actionDurations: [40, 5, 0],
                turnDurations: [0, 9, 1], commitDurations: [0, 0, 8])),
    ]

    private static let description = NodeDescription(
        path: "/visits", reactor: "Counter", doc: "Counts.", fingerprint: counter,
        action: .choice(
            WireSchema.Choice(
                name: "Action",
                cases: [
                    WireSchema.Case(
                        name: "increment",
                        payload: .record([
                            WireSchema.Field(
                                name: "by", schema: Int64.wireSchema, isOptional: true)
                        ]), doc: "Adds `by`."),
                    WireSchema.Case(name: "reset", payload: .none, aliases: ["clear"]),
                ])),
        state: .record(
            WireSchema.Record(
                name: "State",
                fields: [
                    WireSchema.Field(name: "count", schema: Int64.wireSchema, isOptional: true)
                ])),
        mutation: .choice(
            WireSchema.Choice(
                name: "Mutation",
                cases: [WireSchema.Case(name: "added", payload: .single(Int64.wireSchema))])),
        reply: nil, children: [])
}
