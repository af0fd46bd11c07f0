/// Why a state was not taken over.
public enum ImportError: Error, Equatable, Sendable {
    /// No reactor stands there, and none can come to.
    case missing(path: String)
    /// The reactor's types cannot read it.
    case unreadable(path: String, WireError)
}

extension ImportError: CustomStringConvertible {
    /// What stands in the way, and where.
    public var description: String {
        switch self {
        case .missing(let path):
            "no reactor stands at \(path), and nothing above it makes children by their names"
        case .unreadable(let path, let error): "not a state of \(path): \(error)"
        }
    }
}

// MARK: - States from elsewhere
extension Tree {
    /// Puts `state` in the place of that of the node at `path`, and answers which nodes are another
    /// by that. A child that a collection does not have comes, with all that it consists of.
    ///
    /// *Place*: between a recovery and the end of the process; a tree that is open is not changed
    /// this way. Nobody is told and nothing is decided: no `mutate`, no reaction.
    public func importState(
        _ state: Span<UInt8>, at path: SlicePath
    ) throws(ImportError) -> [AnyNode] {
        precondition(!isOpen, "states are imported into a tree that nobody is served from")
        let (node, made) = try findOrMake(path)
        do throws(WireError) {
            try node.restore(state)
        } catch {
            throw .unreadable(path: path.description, error)
        }
        node.changedSequence = turn.sequence
        return made.isEmpty ? [node] : made
    }

    private func findOrMake(
        _ path: SlicePath
    ) throws(ImportError) -> (node: AnyNode, made: [AnyNode]) {
        if let node = node(at: path) { return (node, []) }
        guard let name = path.components.last,
            let parent = node(at: SlicePath(path.components.dropLast())), parent.isCollection,
            let child = parent.makeChild(name, number: newNumber())
        else { throw .missing(path: path.description) }
        child.birthSequence = turn.sequence
        insert(child, named: name)
        var made: [AnyNode] = []
        Self.visit(child) { made.append($0) }
        return (child, made)
    }

    /// The nodes as they stand, in the form in which ``TreeRecovery/restore(_:from:)`` takes them.
    public func encodeSaved(_ nodes: [AnyNode]) -> [UInt8] {
        var writer = WireWriter()
        for node in nodes { SavedNode(node).encode(into: &writer) }
        return writer.bytes
    }
}
