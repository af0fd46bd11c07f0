package import ReactorWire

/// What a replay finds that differs between a history and today's reactors, collected instead of
/// refused at the first.
///
///     let survey = recovery.beginSurvey()
///     // replay, then:
///     for difference in survey.differences { print(difference) }
///
/// *Place*: `reactord --check`. The replayed tree serves no client: an unreadable value is left
/// out, so the states after it are not those of the history. *Owner*: the tree's isolation.
package final class RecoverySurvey {
    /// The reasons for which a start would be refused, in their order, the first of each type and
    /// kind of value; at most ``refusalsMax``.
    package private(set) var refusals: [RecoveryError] = []
    /// Planned actions that today's types cannot read, by type and action.
    package private(set) var plans: [UnreadablePlans] = []
    /// Durable tasks whose payloads have no declared type, by the type of their reactors.
    package private(set) var uncompared: [UncomparedTasks] = []
    private var forms: [ComparedForm] = []
    /// Indexes into ``forms``.
    private var formIndexes: [FormKey: Int] = [:]
    /// The types of which a value of a kind was not read.
    private var unread: Set<ValueKey> = []
    /// Nodes whose states are unknown, so that their mutations are left out.
    private var unknownStates: Set<ObjectIdentifier> = []
    private var lostPaths: Set<SlicePath> = []

    /// Maximum number of ``refusals``.
    package static let refusalsMax = 256

    init() {}

    /// The values of a kind that a type of today reads.
    private struct ValueKey: Hashable {
        let type: ObjectIdentifier
        let kind: HistoryKind
    }

    /// The form in which the history has such values.
    private struct FormKey: Hashable {
        let value: ValueKey
        let kept: KeptSchema
    }

    private struct ComparedForm {
        let key: FormKey
        /// The first node with values in this form.
        let node: AnyNode
        var nodes: Set<UInt32>
    }
}

// MARK: - During the replay
extension RecoverySurvey {
    /// Records the form in which the history has a node's values, if it is not today's.
    func compare(_ kept: KeptSchema?, with node: AnyNode) {
        compare(kept, with: node, in: [.state, .mutation])
    }

    /// The same for values of these kinds.
    func compare(_ kept: KeptSchema?, with node: AnyNode, in kinds: [HistoryKind]) {
        guard let kept else { return }
        let type = ObjectIdentifier(Swift.type(of: node))
        for kind in kinds {
            let key = FormKey(value: ValueKey(type: type, kind: kind), kept: kept)
            if let index = formIndexes[key] {
                forms[index].nodes.insert(node.number)
            } else {
                formIndexes[key] = forms.count
                forms.append(ComparedForm(key: key, node: node, nodes: [node.number]))
            }
        }
    }

    /// Records the reason for which a start would be refused.
    func record(_ refusal: RecoveryError) {
        if refusals.count < Self.refusalsMax { refusals.append(refusal) }
    }

    /// Records that a value of `node` could not be read.
    func record(_ refusal: RecoveryError, _ kind: HistoryKind, of node: AnyNode) {
        if kind == .state || kind == .mutation { unknownStates.insert(ObjectIdentifier(node)) }
        let key = ValueKey(type: ObjectIdentifier(type(of: node)), kind: kind)
        if unread.insert(key).inserted { record(refusal) }
    }

    /// Records that the history's node at `path` has no reactor today. The nodes below it have
    /// none either.
    func record(_ refusal: RecoveryError, at path: SlicePath) {
        let isBelow = (0..<path.components.count).contains {
            lostPaths.contains(SlicePath(Array(path.components.prefix($0))))
        }
        if !isBelow, lostPaths.insert(path).inserted { record(refusal) }
    }

    /// Records that the history has a whole state of the node at this point.
    func recordRead(_ node: AnyNode) { unknownStates.remove(ObjectIdentifier(node)) }

    /// Whether the state of `node` is not that of the history.
    func isUnknown(_ node: AnyNode) -> Bool { unknownStates.contains(ObjectIdentifier(node)) }

    /// Whether every value was read so far, so that states are comparable.
    var isComplete: Bool { unread.isEmpty && lostPaths.isEmpty }

    /// Records a pending planned action, which was planned under the schemas `kept`; `refusal` says
    /// why it cannot be read.
    func record(
        _ action: WireEmbedded, due: Int64, of node: AnyNode, kept: KeptSchema?,
        _ refusal: RecoveryError? = nil
    ) {
        compare(kept, with: node, in: [.action])
        guard let refusal else { return }
        record(refusal, .action, of: node)
        let name = Self.caseName(action)
        let type = ObjectIdentifier(type(of: node))
        guard let index = plans.firstIndex(where: { $0.type == type && $0.action == name }) else {
            plans.append(
                UnreadablePlans(
                    type: type, path: node.path, reactor: node.reactorName, action: name, count: 1,
                    due: due))
            return
        }
        plans[index].count += 1
        plans[index].due = min(plans[index].due, due)
    }

    /// Records a pending durable task of `node` whose payload has no declared type.
    func record(uncompared task: String, of node: AnyNode) {
        let type = ObjectIdentifier(type(of: node))
        if let index = uncompared.firstIndex(where: { $0.type == type }) {
            uncompared[index].count += 1
        } else {
            uncompared.append(
                UncomparedTasks(
                    type: type, path: node.path, reactor: node.reactorName, task: task, count: 1))
        }
    }

    private static func caseName(_ action: WireEmbedded) -> String {
        switch try? action.decode(as: WireValue.self) {
        case .text(let name)?: name
        case .map(let map)? where map.count == 1: map.first?.key.text ?? ""
        default: ""
        }
    }
}

// MARK: - Results
extension RecoverySurvey {
    /// The differences between the schemas of the history and those of today's types, by type in
    /// the order in which the replay met them.
    package var differences: [SchemaDifference] {
        forms.flatMap { form in
            let value = form.key.value
            return changes(of: form).map { change in
                SchemaDifference(
                    path: form.node.path, nodeCount: form.nodes.count,
                    reactor: form.node.reactorName, kind: value.kind, change: change,
                    isEveryValueRead: !unread.contains(value))
            }
        }
    }

    private func changes(of form: ComparedForm) -> [SchemaChange] {
        let kind = form.key.value.kind
        guard let today = form.node.ownSchema(of: kind) else { return [] }
        guard let stored = form.key.kept.schema(of: kind) else {
            // A payload has no recorded schema if its task was not declared.
            if case .task = kind { return [] }
            return [
                SchemaChange(
                    verdict: .needsDecision, path: [],
                    change: "has a schema that this program cannot read",
                    remedy: "check with a newer program")
            ]
        }
        return stored.changes(to: today)
    }
}

/// A difference between the schema of stored values and that of today's type, with the nodes that
/// it concerns.
package struct SchemaDifference: Equatable, Sendable {
    /// The first node with values in this form.
    package var path: SlicePath
    /// Number of nodes with values in this form.
    package var nodeCount: Int
    /// The reactor's name today.
    package var reactor: String
    /// The kind of the values.
    package var kind: HistoryKind
    /// The difference.
    package var change: SchemaChange
    /// Whether a start reads every value of the type and kind nevertheless: it has none with the
    /// difference, or the author converts them.
    package var isEveryValueRead: Bool
}

extension SchemaDifference: CustomStringConvertible {
    package var description: String {
        let others =
            switch nodeCount {
            case 1: ""
            case 2: " and another"
            default: " and \(nodeCount - 1) others"
            }
        let note =
            change.verdict != .fine && isEveryValueRead ? " (every stored value is read)" : ""
        return "\(path)\(others): \(reactor) \(kind)\(note): \(change)"
    }
}

/// Planned actions of one name that today's type cannot read.
package struct UnreadablePlans: Equatable, Sendable {
    let type: ObjectIdentifier
    /// The first reactor that planned one.
    package var path: SlicePath
    /// The reactor's name today.
    package var reactor: String
    /// The name of the action's case; empty if it has none.
    package var action: String
    /// Number of pending plans.
    package var count: Int
    /// The time of the next, in milliseconds since 1970.
    package var due: Int64
}

extension UnreadablePlans: CustomStringConvertible {
    package var description: String {
        let (noun, verb) = count == 1 ? ("plan", "waits") : ("plans", "wait")
        let time = TimestampText.format(milliseconds: due)
        let name = action.quoted()
        return "\(path): \(count) \(noun) of the action \(name) \(verb), the next is due \(time), "
            + "and \(reactor) cannot read it: keep the case, write @WireAlias(\(name)) on the case "
            + "that replaces it, or convert it in `migrate`"
    }
}

/// Durable tasks of a reactor's type whose payloads have no declared type.
package struct UncomparedTasks: Equatable, Sendable {
    let type: ObjectIdentifier
    /// The reactor of the first task.
    package var path: SlicePath
    /// The reactor's name today.
    package var reactor: String
    /// The name of the first task.
    package var task: String
    /// Number of pending tasks.
    package var count: Int
}

extension UncomparedTasks: CustomStringConvertible {
    package var description: String {
        let others = count == 1 ? "" : " and of \(count - 1) others"
        return
            "\(path): the payload of the durable task \(task.quoted())\(others) is not compared: "
            + "declare it in `durableTasks` of \(reactor)"
    }
}
