/// A value that is read from a store and written by an action or a mutation.
///
///     let name = store.binding(\.name) { .rename(to: $0) }
///     let count = store.binding(\.count, mutation: { .counted($0) })
///
/// *Owner*: that of the store. A client's bindings are another type, for mutations do not travel:
/// a daemon decides itself.
@propertyWrapper
public struct StoreBinding<Value> {
    private let get: () -> Value
    private let set: (Value) -> Void

    /// A binding of any two functions.
    public init(get: @escaping () -> Value, set: @escaping (Value) -> Void) {
        self.get = get
        self.set = set
    }

    /// What the store holds; setting it is applied at once, or, from inside an action, after that.
    public var wrappedValue: Value {
        get { get() }
        nonmutating set { set(newValue) }
    }

    /// The binding itself.
    public var projectedValue: StoreBinding { self }
}

extension Store {
    /// A binding that reads a field, and dispatches the action made of what is written; a rejected
    /// one changes nothing, and `onRejection` is told.
    public func binding<Value>(
        _ field: KeyPath<R.State, Value>,
        onRejection: @escaping (Rejection) -> Void = { _ in },
        action: @escaping (Value) -> R.Action
    ) -> StoreBinding<Value> {
        StoreBinding(
            get: { self.state[keyPath: field] },
            set: { self.dispatch(action($0), onRejection: onRejection) })
    }

    /// A binding that reads a field, and applies the mutation made of what is written: `mutate` is
    /// not asked.
    public func binding<Value>(
        _ field: KeyPath<R.State, Value>, mutation: @escaping (Value) -> R.Mutation
    ) -> StoreBinding<Value> {
        StoreBinding(
            get: { self.state[keyPath: field] }, set: { self.inject(mutation($0)) })
    }
}
