/// A value that is read from a store and written through an action or a mutation.
///
///     let name = store.binding(\.name) { .rename(to: $0) }
///     let count = store.binding(\.count, mutation: { .counted($0) })
///
/// *Owner*: the store's isolation. Clients have a binding type of their own, which sends actions
/// only: the daemon decides the mutations.
@propertyWrapper
public struct StoreBinding<Value> {
    private let get: () -> Value
    private let set: (Value) -> Void

    /// Makes a binding of two functions.
    public init(get: @escaping () -> Value, set: @escaping (Value) -> Void) {
        self.get = get
        self.set = set
    }

    /// The value in the store. Setting it applies at once, or after the current action.
    public var wrappedValue: Value {
        get { get() }
        nonmutating set { set(newValue) }
    }

    /// The binding itself.
    public var projectedValue: StoreBinding { self }
}

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
}
