extension AnyNode {
    /// Whether something may stand at `field` below this node, now or later; an empty field is the
    /// node itself.
    ///
    /// *Cost*: looks at types and children, and encodes nothing.
    public final func allows(_ field: ArraySlice<WireKey>) -> Bool {
        guard let first = field.first else { return true }
        if let child = children[first] { return child.allows(field.dropFirst()) }
        // because a child that does not stand here now may later
        return isCollection || stateSchema.allows(field)
    }
}
