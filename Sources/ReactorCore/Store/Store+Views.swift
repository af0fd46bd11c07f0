// MARK: - Bindings and parts
extension Store {
    /// A binding that reads a field, and dispatches an action made from the new value. A rejected
    /// action changes nothing and calls `onRejection`.
    public func binding<Value>(
        _ field: KeyPath<R.State, Value>,
        onRejection: @escaping (Rejection) -> Void = { _ in },
        action: @escaping (Value) -> R.Action
    ) -> StoreBinding<Value> {
        StoreBinding(
            get: { self.state[keyPath: field] },
            set: { self.dispatch(action($0), onRejection: onRejection) })
    }

    /// A binding that reads a field, and applies a mutation made from the new value, without
    /// `mutate`.
    public func binding<Value>(
        _ field: KeyPath<R.State, Value>, mutation: @escaping (Value) -> R.Mutation
    ) -> StoreBinding<Value> {
        StoreBinding(
            get: { self.state[keyPath: field] }, set: { self.inject(mutation($0)) })
    }

    /// A part of the state, with its own observers.
    public func scoped<Part: Equatable>(
        to part: KeyPath<R.State, Part>
    ) -> StoreView<R, Part> {
        StoreView(self, part)
    }
}
