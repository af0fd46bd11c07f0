extension Store {
    /// Calls `body` with the value of a ``Pulse`` or ``Stamped`` at each later assignment, even of
    /// an equal value, until the token is released.
    public func pulse<Value>(
        _ field: KeyPath<R.State, some Counted<Value>>, _ body: @escaping (Value) -> Void
    ) -> StoreToken {
        var listener = PulseListener(state[keyPath: field])
        return observe { state in
            let pulse = state[keyPath: field]
            if listener.isTold(of: pulse) { body(pulse.value) }
        }
    }
}
