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
