public import ReactorCore

// MARK: - Bindings
extension Mirror {
    /// A binding that reads a field, and sends the action made of what is written.
    ///
    /// `isPreviewed` and `cancel` are as in ``send(_:isPreviewed:cancel:)``: a text field that
    /// searches as one types says `cancel`, so that each stroke ends the search before it.
    public func binding<Value>(
        _ field: any KeyPath<R.State, Value> & Sendable, isPreviewed: Bool = false,
        cancel: String? = nil, action: @escaping @Sendable (Value) -> R.Action
    ) -> ActionBinding<Value> {
        binding(field, map: { $0 }, isPreviewed: isPreviewed, cancel: cancel, action: action)
    }

    /// A binding that reads a field, and sends one and the same action whatever is written.
    public func binding<Value>(
        _ field: any KeyPath<R.State, Value> & Sendable, isPreviewed: Bool = false,
        cancel: String? = nil, sending action: R.Action
    ) -> ActionBinding<Value> {
        binding(field, isPreviewed: isPreviewed, cancel: cancel) { _ in action }
    }

    /// A binding that reads a field through `map`, and sends the action made of what is written.
    public func binding<Value, Shown>(
        _ field: any KeyPath<R.State, Value> & Sendable,
        map: @escaping @Sendable (Value) -> Shown, isPreviewed: Bool = false,
        cancel: String? = nil, action: @escaping @Sendable (Shown) -> R.Action
    ) -> ActionBinding<Shown> {
        ActionBinding(
            get: { map(self[dynamicMember: field]) },
            set: { self.send(action($0), isPreviewed: isPreviewed, cancel: cancel) })
    }

    /// A binding that reads a field, and hands what is written to `set`.
    public func binding<Value>(
        _ field: any KeyPath<R.State, Value> & Sendable,
        set: @escaping @Sendable (Value) -> Void
    ) -> ActionBinding<Value> {
        ActionBinding(get: { self[dynamicMember: field] }, set: set)
    }

    /// A binding that reads a field through `map`, and hands what is written to `set`.
    public func binding<Value, Shown>(
        _ field: any KeyPath<R.State, Value> & Sendable,
        map: @escaping @Sendable (Value) -> Shown, set: @escaping @Sendable (Shown) -> Void
    ) -> ActionBinding<Shown> {
        ActionBinding(get: { map(self[dynamicMember: field]) }, set: set)
    }

    /// A binding that reads and writes a field of a reactor whose actions take changes of fields;
    /// what is written shows at once, and gives way to what the reactor makes of it.
    public func binding<Value: WireCodable & Sendable>(
        _ field: any WritableKeyPath<R.State, Value> & Sendable, cancel: String? = nil
    ) -> ActionBinding<Value>
    where R.Action: BindableAction, R.Action.Root == R.State {
        ActionBinding(
            get: { self[dynamicMember: field] },
            set: { self.send(.binding(.set(field, $0)), isPreviewed: true, cancel: cancel) })
    }
}
