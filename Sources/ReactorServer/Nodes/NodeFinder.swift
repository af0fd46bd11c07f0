import ReactorCore
import ReactorWire

/// Finds the node and the field of a client's path, or the reason why there is none.
struct NodeFinder {
    let tree: Tree
    /// Where refusals for lack of a verb are counted, if anywhere.
    var orders: ShellOrders?

    /// A node, and a path inside its state.
    typealias Found = (node: AnyNode, field: ArraySlice<WireKey>)

    /// Parses a client's path.
    func path(_ text: String) throws(Refusal) -> SlicePath {
        do throws(SlicePathError) {
            return try SlicePath(text)
        } catch {
            throw Refusal(.path, error.description)
        }
    }

    /// The node and the field at a path.
    func find(_ text: String) throws(Refusal) -> Found { try find(try path(text)) }

    /// The node and the field at a path.
    func find(_ path: SlicePath) throws(Refusal) -> Found {
        let (node, field) = tree.resolve(path)
        guard node.allows(field) else { throw missing(path.description, node, field) }
        return (node, field)
    }

    /// The node and the field at a path, for a class of callers that needs `verb` there. To the
    /// class, a hidden node does not exist.
    ///
    /// *Throws*: "no such path" where the class may not see the path, else "forbidden".
    func find(
        _ path: SlicePath, for access: AccessClass?, to verb: AccessVerbs
    ) throws(Refusal) -> Found {
        guard let access else { return try find(path) }
        var node = tree.root
        var place = access.place(ofRoot: node)
        var rest = path.components[...]
        while let name = rest.first, let child = node.children[name] {
            let next = place.child(child)
            guard next.isSeen else { break }
            (node, place) = (child, next)
            rest.removeFirst()
        }
        // The rest is inside the state of a node that is no collection, which is one whole.
        let rights = node.isCollection ? place.rights(below: rest) : place.rights
        guard rights.verbs.contains(.see), node.allowsOwn(rest) else {
            throw missing(path.description, node, rest, isWhole: place.isWhole)
        }
        guard rights.verbs.isSuperset(of: verb) else {
            orders?.stats.countDenial(of: verb)
            throw Refusal(forbidding: verb, at: path)
        }
        return (node, rest)
    }

    /// The refusal "no such path", with the most similar path that exists. None is named to a
    /// caller that may not see every sibling.
    func missing(
        _ text: String, _ node: AnyNode, _ field: ArraySlice<WireKey>, isWhole: Bool
    ) -> Refusal {
        var refusal = missing(text, node, field)
        if !isWhole { refusal.nearest = nil }
        return refusal
    }

    /// The refusal "no such path", with the most similar path that exists.
    func missing(_ text: String, _ node: AnyNode, _ field: ArraySlice<WireKey>) -> Refusal {
        if let key = field.first, let problem = node.keyProblem(key) {
            return Refusal(.path, problem)
        }
        // A tree may be large and a peer may ask often, so only siblings of the missing name are
        // compared, and no more than a person would read.
        let siblings = node.children.count <= 256 ? node.children.keys.map(\.text) : []
        let name = field.first.flatMap { NearestName.of($0.text, among: siblings) }
        return Refusal(
            .notFound, "no node or field at \(text), the path exists up to \(node.path)",
            nearest: name.map { node.path.appending(WireKey($0)).description })
    }
}
