/// An error of a child, as its parent sees it.
public struct ChildFailure {
    let child: AnyNode
    /// The error that an effect of the child threw.
    public let error: any Error

    /// Whether `child` failed.
    public func isOf<R: Reactor>(_ child: ChildHandle<R>) -> Bool {
        self.child.name == child.slot.name && self.child.parent?.isCollection != true
    }

    /// The key, if a child of this collection failed.
    public func key<R: Reactor>(in children: KeyedHandle<R>) -> WireKey? {
        guard let collection = child.parent, collection.isCollection,
            collection.name == children.slot.name
        else { return nil }
        return child.name
    }
}
