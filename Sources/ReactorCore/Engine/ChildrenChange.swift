/// A child that was created in a collection, or removed from it, as its parent sees it.
///
///     func childrenChanged(
///         _ change: ChildrenChange, state: State, context: ReactorContext<Self>
///     ) -> Mutations<Mutation> {
///         if let room = change.created(in: $rooms) { return [.opened(room)] }
///         if let room = change.removed(in: $rooms) { return [.closed(room)] }
///         return .none
///     }
public struct ChildrenChange {
    let collection: AnyNode
    let key: WireKey
    let isCreation: Bool

    /// The key of the child, if it was created in this collection.
    public func created<Key: ChildKey, R: Reactor>(
        in children: KeyedHandle<Key, R>
    ) -> Key? {
        isCreation ? key(in: children) : nil
    }

    /// The key of the child, if it was removed from this collection.
    public func removed<Key: ChildKey, R: Reactor>(
        in children: KeyedHandle<Key, R>
    ) -> Key? {
        isCreation ? nil : key(in: children)
    }

    private func key<Key: ChildKey, R: Reactor>(
        in children: KeyedHandle<Key, R>
    ) -> Key? {
        collection.name == children.slot.name ? key : nil
    }
}
