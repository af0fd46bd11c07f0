/// A value that is read from a mirror and written by sending an action.
///
///     let name = user.binding(\.name) { .rename(to: $0) }
///     name.wrappedValue = "Ann"       // sends {"rename":{"to":"Ann"}}
///
/// Or as a property:
///
///     struct Form {
///         @ActionBinding var name: String
///
///         init(_ user: Mirror<User>) { _name = user.binding(\.name) { .rename(to: $0) } }
///     }
///
/// Reading is local and never waits. A written value shows once the daemon has answered, or at once
/// where the binding previews.
@propertyWrapper
public struct ActionBinding<Value>: Sendable {
    private let get: @Sendable () -> Value
    private let set: @Sendable (Value) -> Void

    /// A binding of any two functions.
    public init(get: @escaping @Sendable () -> Value, set: @escaping @Sendable (Value) -> Void) {
        self.get = get
        self.set = set
    }

    /// The value that the mirror shows; setting it sends the action.
    public var wrappedValue: Value {
        get { get() }
        nonmutating set { set(newValue) }
    }

    /// The binding itself.
    public var projectedValue: ActionBinding { self }

    /// A binding to the same value, converted.
    public func map<Other>(
        get read: @escaping @Sendable (Value) -> Other,
        set write: @escaping @Sendable (Other) -> Value
    ) -> ActionBinding<Other> {
        let (get, set) = (get, set)
        return ActionBinding<Other>(get: { read(get()) }, set: { set(write($0)) })
    }
}
