/// The schemas of a reactor's types, as a history records them before the first value in their
/// form.
///
/// *Shape*: each schema is a byte string of its own, so that a schema that a program cannot read
/// is no reason to refuse the history. It is ``WireSchema/canonical``: stored values have no
/// aliases, and no documentation.
@WireCodable
package struct KeptSchema: Hashable, Sendable {
    /// ``AnyNode/reactorName``.
    package var reactor: String
    /// ``AnyNode/fingerprint``, of state, mutation and version.
    package var fingerprint: UInt64
    /// The author's ``Reactor/version``.
    package var version: UInt32
    private var state: [UInt8]
    private var mutation: [UInt8]
    private var action: [UInt8]
    /// By ``DurableTaskKind/name``.
    private var tasks: [String: [UInt8]] = [:]

    init(
        reactor: String, fingerprint: UInt64, version: UInt32, state: WireSchema,
        mutation: WireSchema, action: WireSchema, tasks: [String: WireSchema] = [:]
    ) {
        (self.reactor, self.fingerprint, self.version) = (reactor, fingerprint, version)
        self.state = state.canonical.wireBytes()
        self.mutation = mutation.canonical.wireBytes()
        self.action = action.canonical.wireBytes()
        self.tasks = tasks.mapValues { $0.canonical.wireBytes() }
    }

    /// The schema of the reactor's stored values of a kind; `nil` if this program cannot read it,
    /// or if the program that wrote it did not declare the task.
    package func schema(of kind: HistoryKind) -> WireSchema? {
        let bytes: [UInt8]? =
            switch kind {
            case .state: state
            case .mutation: mutation
            case .action: action
            case .task(let name): tasks[name]
            }
        return bytes.flatMap { try? WireSchema(wireBytes: $0.span) }
    }
}

/// The schemas that a history records, by reactor and fingerprint.
///
/// *Place*: a tree has those of its history: a replay adds what it reads, a running tree adds the
/// schemas of its own types before it writes the first value in their form. *Owner*: the tree's
/// isolation.
package final class KeptSchemas {
    /// By reactor, in the order of their last use.
    private var schemas: [String: [KeptSchema]] = [:]
    /// The types of nodes whose schemas this run has compared with the history.
    private var comparedTypes: Set<ObjectIdentifier> = []

    /// Maximum number of schemas per reactor; the earliest used are forgotten. A value in the form
    /// of a forgotten one is still read, and only not compared before.
    package static let perReactorMax = 64

    init() {}

    /// Whether the history records no schemas.
    package var isEmpty: Bool { schemas.isEmpty }

    /// All, in ascending order of the reactors' names, and for each in the order of their last use.
    package var all: [KeptSchema] {
        schemas.sorted { $0.key < $1.key }.flatMap(\.value)
    }

    /// The last used schemas of these fingerprint and reactor.
    package func find(_ reactor: String, _ fingerprint: UInt64) -> KeptSchema? {
        // Actions are no part of the fingerprint, so several may have it.
        schemas[reactor]?.last { $0.fingerprint == fingerprint }
    }

    /// Adds schemas, or makes them the last used.
    func add(_ schema: KeptSchema) {
        var known = schemas[schema.reactor] ?? []
        known.removeAll { $0 == schema }
        known.append(schema)
        if known.count > Self.perReactorMax { known.removeFirst() }
        schemas[schema.reactor] = known
    }

    /// Adds the schemas of a type whose values the tree is about to write; returns them if the
    /// history must record them first.
    func take(
        _ type: Any.Type, _ schema: @autoclosure () -> KeptSchema?
    ) -> KeptSchema? {
        guard comparedTypes.insert(ObjectIdentifier(type)).inserted, let schema = schema(),
            find(schema.reactor, schema.fingerprint) != schema
        else { return nil }
        add(schema)
        return schema
    }
}
