package import ReactorCore
package import ReactorWire

/// Hides secrets in log entries: the values of fields and cases with ``ReactorWire/WireSecret()``.
///
///     let secrets = SecretTable(of: tree)
///     let shown = secrets.hidden(in: page)
///
/// It knows the types of all reactors by their places, also of children that do not exist any more:
/// below a collection, the types that the reactors declare decide. Below a place that no type
/// declares, everything is hidden if any type has secrets.
///
/// *Place*: made once from a running tree; the archive's thread applies it to the pages of callers
/// that may not administer the daemon. *Shape*: a value. *Cost*: O(nodes outside collections + types).
package struct SecretTable: Sendable {
    /// Types by their identity.
    private var types: [ObjectIdentifier: Entry] = [:]
    /// The reactors outside collections, and the collections themselves, by their places.
    private var places: [SlicePath: MountedType] = [:]
    /// Whether any type has secrets.
    package private(set) var hasSecrets = false

    /// A type's secrets, and the types of its children.
    private struct Entry: Sendable {
        var action: SecretFields?
        var mutation: SecretFields?
        var reply: SecretFields?
        var children: [WireKey: MountedType] = [:]
    }

    /// A reactor, or a collection of reactors.
    private struct MountedType: Sendable {
        var type: ObjectIdentifier
        var isCollection: Bool
    }

    /// The types of the reactors of a tree.
    package init(of tree: Tree) { add(tree.root) }

    private mutating func add(_ node: AnyNode) {
        guard let type = node.reactorType else { return }
        add(type)
        places[node.path] = MountedType(
            type: ObjectIdentifier(type), isCollection: node.isCollection)
        if node.isCollection { return }
        for child in node.children.values { add(child) }
    }

    /// Adds a type and those of its children, each once: types may contain each other.
    private mutating func add<R: Reactor>(_ type: R.Type) {
        let id = ObjectIdentifier(type)
        guard types[id] == nil else { return }
        var entry = Entry(
            action: SecretFields(of: R.Action.wireSchema),
            mutation: SecretFields(of: R.Mutation.wireSchema),
            reply: SecretFields(of: R.Reply.wireSchema))
        if entry.action != nil || entry.mutation != nil || entry.reply != nil { hasSecrets = true }
        let children = R.childTypes
        for child in children {
            entry.children[child.name] = MountedType(
                type: ObjectIdentifier(child.type), isCollection: child.isCollection)
        }
        types[id] = entry
        for child in children { add(child.type) }
    }

    /// The type at a place, today or formerly; `nil` if no type declares the place.
    private func entry(at path: SlicePath) -> Entry? {
        var place = places[.root]
        var seen = SlicePath.root
        for name in path.components {
            seen = seen.appending(name)
            guard let here = place else { return nil }
            if here.isCollection {
                place = MountedType(type: here.type, isCollection: false)
            } else {
                // The tree alone knows the children of a group.
                place = places[seen] ?? types[here.type]?.children[name]
            }
        }
        // A collection's own actions name keys, and have no secrets.
        return place.flatMap { $0.isCollection ? Entry() : types[$0.type] }
    }
}

extension SecretTable {
    /// The page without secrets.
    package func hidden(in page: LogPage) -> LogPage {
        guard hasSecrets else { return page }
        var page = page
        page.entries = page.entries.map { hidden(in: $0) }
        return page
    }

    private func hidden(in entry: LogEntry) -> LogEntry {
        var entry = entry
        for index in entry.actions.indices {
            let action = entry.actions[index]
            // Bytes that are no value may be those of a whole batch.
            entry.actions[index].action =
                action.isRaw
                ? Self.secret : hidden(action.action, at: action.path, \.action)
        }
        for index in entry.mutations.indices where !entry.mutations[index].isStructural {
            let mutation = entry.mutations[index]
            entry.mutations[index].mutation = hidden(
                mutation.mutation, at: mutation.path, \.mutation)
        }
        entry.outcome = entry.outcome.map { hidden(in: $0, of: entry) }
        return entry
    }

    private func hidden(in outcome: Outcome, of entry: LogEntry) -> Outcome {
        switch outcome {
        case .applied(let sequence, let reply?, let ownerEnded):
            // The reply is that to the last action.
            let shown = entry.actions.last.map { hidden(reply, at: $0.path, \.reply) }
            return .applied(
                sequence: sequence, reply: shown ?? Self.secret, ownerEnded: ownerEnded)
        case .rejected(let code, _) where code == FaultCode.decode.rawValue:
            // The text quotes what could not be decoded.
            return .rejected(code: code, message: SecretFields.text)
        case .applied, .accepted, .rejected, .failed: return outcome
        }
    }

    private func hidden(
        _ value: WireEmbedded, at path: String, _ kind: KeyPath<Entry, SecretFields?>
    ) -> WireEmbedded {
        guard let path = try? SlicePath(path), let entry = entry(at: path) else {
            return Self.secret
        }
        guard let secrets = entry[keyPath: kind] else { return value }
        guard let plain = try? value.decode(as: WireValue.self) else { return Self.secret }
        return WireEmbedded(secrets.hidden(in: plain))
    }

    private static var secret: WireEmbedded { WireEmbedded(WireValue.text(SecretFields.text)) }
}
