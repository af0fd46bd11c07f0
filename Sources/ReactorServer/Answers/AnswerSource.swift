import ReactorCore
import ReactorWire

/// The source of answers: states, descriptions and the list of nodes.
///
/// *Place*: an ``AnswerService`` captures the requested content, at once or at the end of a turn.
struct AnswerSource {
    let tree: Tree
    /// Where refusals for lack of a verb are counted, if anywhere.
    var orders: ShellOrders?
    private var finder: NodeFinder { NodeFinder(tree: tree, orders: orders) }

    /// The name of the requested slice.
    func name(_ form: SliceName.Form, _ path: String) throws(Refusal) -> SliceName {
        SliceName(form: form, path: try finder.path(path))
    }

    /// The same name for a class of callers, which must be allowed to ask for it.
    func name(_ name: SliceName, for access: AccessClass?) throws(Refusal) -> SliceName {
        guard let access else { return name }
        if name.form == .counters {
            try checkAdministrator(access)
            return name
        }
        let (node, field) = try finder.find(name.path, for: access, to: name.form.verb)
        guard let view = access.view(of: node) else { return name }
        var name = name
        switch name.form {
        // The own state of a node that is no collection has nothing of the nodes below it.
        case .replica where !node.isCollection && field.isEmpty: return name
        case .replica: throw partial("its checksum", .read, at: name.path)
        case .selection: throw partial("a selection", .read, at: name.path)
        case .value, .description, .entries, .counters: name.view = view
        }
        return name
    }

    /// The node and the field that a request names.
    func locate(_ name: SliceName) throws(Refusal) -> NodeFinder.Found {
        let place = try finder.find(name.path, for: name.view, to: name.form.verb)
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
            throw finder.missing(
                name.path.description, place.node, place.field, isWhole: name.view == nil)
        case .value, .entries, .counters: return place
        }
    }

    /// The types at a path of a node.
    func types(at path: String, for access: AccessClass? = nil) throws(Refusal) -> NodeTypes {
        let (node, field) = try finder.find(try finder.path(path), for: access, to: .see)
        if field.isEmpty { return node.mirroredTypes }
        if node.isCollection {
            let isWhole = access?.view(of: node) == nil
            throw finder.missing(path, node, field, isWhole: isWhole)
        }
        throw Refusal(.path, "\(path) is inside a state: ask for the types of \(node.path)")
    }

    /// Checks that a class of callers may ask a question that the shell answers. Returns the number
    /// of names that the class may see, if the question's path leads to a hidden node: the shell
    /// answers as if there were none.
    func check(_ ask: Question, for access: AccessClass?) throws(Refusal) -> Int? {
        guard let access else { return nil }
        switch ask {
        case .past(let path, _), .export(let path, _, _):
            return try checkHistory(of: try finder.path(path), access)
        // An entry shows a whole transaction, with the changes of other nodes.
        case .log: return try checkHistory(of: .root, access)
        case .snapshot, .backup, .keepBackup, .reload, .restart, .metrics, .clients, .kick,
            .slowLog, .activity, .stats, .stepDown:
            try checkAdministrator(access)
            return nil
        case .get, .select, .describe, .tree, .limits, .checksum, .types, .cluster, .sync:
            return nil
        }
    }

    private func checkAdministrator(_ access: AccessClass) throws(Refusal) {
        guard !access.isAdministrator else { return }
        orders?.stats.countDenial(of: .admin)
        throw Refusal(forbidding: .admin, at: .root)
    }

    private func partial(_ question: String, _ verb: AccessVerbs, at path: SlicePath) -> Refusal {
        orders?.stats.countDenial(of: verb)
        return Refusal(partial: question, at: path)
    }

    private func checkHistory(
        of path: SlicePath, _ access: AccessClass
    ) throws(Refusal) -> Int? {
        let (place, seenCount) = walk(path, access)
        guard place.isSeen else {
            throw Refusal(.notFound, "no node or field at \(path)")
        }
        guard place.rights.verbs.contains(.history) else {
            orders?.stats.countDenial(of: .history)
            throw Refusal(forbidding: .history, at: path)
        }
        // Below a hidden name nothing is shown, so nothing can be derived.
        guard place.covered.isSuperset(of: [.read, .history]),
            seenCount != nil || !mayDerive(path, access)
        else { throw partial("the past", .history, at: path) }
        return seenCount
    }

    /// The place of a path, by the rules alone. At a hidden name it is the place of any name that no
    /// rule names, so that both have one answer; the number of names before it tells them apart.
    private func walk(
        _ path: SlicePath, _ access: AccessClass
    ) -> (place: PathAccess, seenCount: Int?) {
        let (node, _) = tree.resolve(path)
        let hidden = node.isDerived && !access.reads(node) ? node.path.components.count - 1 : nil
        var place = access.top
        for (index, name) in path.components.enumerated() {
            let next = place.named(name)
            guard next.isSeen, index != hidden else { return (place.stranger, index) }
            place = next
        }
        return (place, nil)
    }

    /// Whether the value at a path may be derived from states that a class may not read.
    private func mayDerive(_ path: SlicePath, _ access: AccessClass) -> Bool {
        let (node, rest) = tree.resolve(path)
        // Of a child that is gone, the parts are not known.
        guard node.isCollection, rest.count > 1, let name = rest.first else { return false }
        return !access.place(of: node).named(name).isWhole
    }

    /// Captures what an answer about the tree is encoded from, as of now.
    func capture(_ name: SliceName, _ place: NodeFinder.Found) -> SliceCapture {
        switch name.form {
        case .value:
            guard let view = name.view else { return place.node.captureValue(at: place.field) }
            return place.node.captureValue(at: place.field, showing: view.reads)
        case .selection(let selection): return capture(selection, of: place.node)
        case .replica: return place.node.captureReplica()
        case .entries:
            guard let view = name.view else { return tree.captureEntries() }
            return tree.captureEntries(view.sequence)
        case .description:
            let children = place.node.children.filter { name.view?.sees($0.value) ?? true }
            let (description, names) = (describe(place.node, for: name.view), Array(children.keys))
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
    private func describe(_ node: AnyNode, for view: AccessClass?) -> NodeDescription {
        NodeDescription(
            path: node.path.description, reactor: node.describedName, doc: node.documentation,
            fingerprint: node.fingerprint, action: node.actionSchema, state: node.stateSchema,
            mutation: node.mutationSchema, reply: node.replySchema, children: [],
            derived: node.derivedValues.filter { view?.sees($0) ?? true }.map {
                DerivedDescription(name: $0.name.text, doc: $0.documentation, value: $0.stateSchema)
            })
    }
}

extension SliceName.Form {
    /// What a caller needs to be allowed to ask for it.
    fileprivate var verb: AccessVerbs {
        switch self {
        case .value, .selection, .replica: .read
        case .description, .entries: .see
        case .counters: .admin
        }
    }
}
