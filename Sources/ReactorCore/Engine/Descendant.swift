/// A reactor below another, named by the other's handles.
///
///     $total                      // a static child: its handle is enough
///     $projects[name]             // the child under a key
///     $projects[name].$runs[run]  // and further down, by the handles that the child declares
///
/// ``Mutations/sending(_:to:)-(_,Descendant<Target>)`` and
/// ``ReactorContext/dispatch(_:to:)-(_,Descendant<Target>)`` take it. The tree finds the reactor
/// when it delivers the action, so an earlier request of the same decision may create it.
@dynamicMemberLookup
public struct Descendant<R: Reactor> {
    /// Finds the reactor below the node of the reactor that names it.
    let find: (AnyNode) throws(MissingNode) -> Node<R>

    /// A static child of this reactor, by its handle.
    public subscript<Next: Reactor>(
        dynamicMember child: KeyPath<R, ChildHandle<Next>>
    ) -> Descendant<Next> {
        Descendant<Next> { [find] origin throws(MissingNode) in
            let parent = try find(origin)
            return parent.reactor[keyPath: child].node(below: parent)
        }
    }

    /// A collection of this reactor, by its handle; a key leads to one of its children.
    public subscript<Key: ChildKey, Next: Reactor>(
        dynamicMember children: KeyPath<R, KeyedHandle<Key, Next>>
    ) -> DescendantCollection<Key, Next> {
        DescendantCollection { [find] key in
            Descendant<Next> { origin throws(MissingNode) in
                let parent = try find(origin)
                return try parent.reactor[keyPath: children].found(below: parent, key)
            }
        }
    }
}

/// A collection of children of a ``Descendant``.
public struct DescendantCollection<Key: ChildKey, R: Reactor> {
    let child: (Key) -> Descendant<R>

    /// The child under `key`.
    public subscript(key: Key) -> Descendant<R> { child(key) }
}

extension ChildHandle {
    /// The child as the target of an action.
    var descendant: Descendant<R> {
        Descendant { [self] parent throws(MissingNode) in node(below: parent) }
    }

    /// A static child of the child: see ``Descendant``.
    public subscript<Next: Reactor>(
        dynamicMember child: KeyPath<R, ChildHandle<Next>>
    ) -> Descendant<Next> { descendant[dynamicMember: child] }

    /// A collection of the child: see ``Descendant``.
    public subscript<Key: ChildKey, Next: Reactor>(
        dynamicMember children: KeyPath<R, KeyedHandle<Key, Next>>
    ) -> DescendantCollection<Key, Next> { descendant[dynamicMember: children] }
}

extension KeyedHandle {
    /// The child under `key`, as the target of an action.
    public subscript(key: Key) -> Descendant<R> {
        Descendant { [self] parent throws(MissingNode) in try found(below: parent, key) }
    }

    fileprivate func found(below parent: AnyNode, _ key: Key) throws(MissingNode) -> Node<R> {
        if let found = node(below: parent, key) { return found }
        let collection = collection(below: parent).path
        throw MissingNode(
            collection.appending(key.pathKey), .noChild(key.pathKey, in: collection))
    }
}
