import ReactorCore
import ReactorWire

/// The source of answers: states, descriptions and the list of nodes.
///
/// *Place*: an ``AnswerService`` captures the requested content, at once or at the end of a turn.
struct AnswerSource {
    let tree: Tree
    private var finder: NodeFinder { NodeFinder(tree: tree) }

    /// The name of the requested slice.
    func name(_ form: SliceName.Form, _ path: String) throws(Refusal) -> SliceName {
        SliceName(form: form, path: try finder.path(path))
    }

    /// The node and the field that a request names.
    func locate(_ name: SliceName) throws(Refusal) -> NodeFinder.Found {
        let place = try finder.find(name.path)
        guard !place.field.isEmpty else {
            if case .selection(let selection) = name.form {
                _ = try BoundSelection(selection, of: place.node)
            }
            return place
        }
        switch name.form {
        case .replica:
            throw Refusal(.path, "\(name.path) is inside a state: ask in value mode")
        case .selection where !place.node.isCollection:
            throw Refusal(
                .path, "\(name.path) is inside a state: select the children of a collection")
        case .description, .selection:
            throw finder.missing(name.path.description, place.node, place.field)
        case .value, .entries, .counters: return place
        }
    }

    /// The types at a path of a node.
    func types(at path: String) throws(Refusal) -> NodeTypes {
        let (node, field) = try finder.find(path)
        if field.isEmpty { return node.mirroredTypes }
        if node.isCollection { throw finder.missing(path, node, field) }
        throw Refusal(.path, "\(path) is inside a state: ask for the types of \(node.path)")
    }

    /// Captures what an answer about the tree is encoded from, as of now.
    func capture(_ name: SliceName, _ place: NodeFinder.Found) -> SliceCapture {
        switch name.form {
        case .value: return place.node.captureValue(at: place.field)
        case .selection(let selection): return capture(selection, of: place.node)
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

    private func capture(_ selection: Selection, of node: AnyNode) -> SliceCapture {
        guard let bound = try? BoundSelection(selection, of: node) else {
            return SliceCapture { _ in .absent }
        }
        return SelectedChildren(bound, of: node).capture(of: node)
    }

    /// A node's actions, state and derived values, without the names of its children.
    private func describe(_ node: AnyNode) -> NodeDescription {
        NodeDescription(
            path: node.path.description, reactor: node.describedName, doc: node.documentation,
            fingerprint: node.fingerprint, action: node.actionSchema, state: node.stateSchema,
            mutation: node.mutationSchema, reply: node.replySchema, children: [],
            derived: node.derivedValues.map {
                DerivedDescription(name: $0.name.text, doc: $0.documentation, value: $0.stateSchema)
            })
    }
}
