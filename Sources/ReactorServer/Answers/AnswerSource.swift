import ReactorCore
import ReactorWire

/// What answers to questions are encoded from: states, descriptions and the list of nodes.
///
/// *Place*: an ``AnswerService`` captures what a question is about, at the end of a turn or at once.
struct AnswerSource {
    let tree: Tree
    private var finder: NodeFinder { NodeFinder(tree: tree) }

    /// What a question is about.
    func name(_ form: SliceName.Form, _ path: String) throws(Refusal) -> SliceName {
        SliceName(form: form, path: try finder.path(path))
    }

    /// The node and the field that a question is about.
    func locate(_ name: SliceName) throws(Refusal) -> NodeFinder.Found {
        let place = try finder.find(name.path)
        guard !place.field.isEmpty else { return place }
        switch name.form {
        case .replica:
            throw Refusal(.path, "\(name.path) is inside a state: ask in value mode")
        case .description:
            throw finder.missing(name.path.description, place.node, place.field)
        case .value, .entries, .counters: return place
        }
    }

    /// What an answer about the tree is encoded from, as of now.
    func capture(_ name: SliceName, _ place: NodeFinder.Found) -> SliceCapture {
        switch name.form {
        case .value: return place.node.captureValue(at: place.field)
        case .replica: return place.node.captureReplica()
        case .entries: return tree.captureEntries()
        case .description:
            let (description, names) = (describe(place.node), Array(place.node.children.keys))
            return SliceCapture { writer in
                var description = description
                description.children = names.sorted().map(\.text)
                description.encode(into: &writer)
                return .found
            }
        case .counters: preconditionFailure("counters are no part of the tree")
        }
    }

    /// What can be sent to a node and what it holds, but for the names of its children.
    private func describe(_ node: AnyNode) -> NodeDescription {
        NodeDescription(
            path: node.path.description, reactor: node.reactorName, doc: node.documentation,
            fingerprint: node.fingerprint, action: node.actionSchema, state: node.stateSchema,
            mutation: node.mutationSchema, reply: node.replySchema, children: [])
    }
}
