extension AsyncLoad {
    /// The load as text: the value, or a text for "not requested", "loading" or a failure.
    ///
    ///     print(state.profile.text { $0.name })       // Ann, or … while it is on its way
    public func text(
        none: String = "", loading: String = "…",
        failed: (Failure) -> String = { "failed: \($0)" }, loaded: (Value) -> String
    ) -> String {
        switch self {
        case .none: none
        case .loading: loading
        case .loaded(let value): loaded(value)
        case .failed(let failure): failed(failure)
        }
    }
}
