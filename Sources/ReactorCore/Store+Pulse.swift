extension Store {
    /// Calls `body` with the value of a ``Pulse`` or ``Stamped`` each time that it is assigned from
    /// now on, even if to the same, until the token goes.
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
