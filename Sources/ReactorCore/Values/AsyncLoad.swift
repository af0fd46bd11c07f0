/// A value that is fetched: not requested, loading, loaded, or failed.
///
///     var profile = AsyncLoad<Profile, LoadError>.none
///
/// Equatable and hashable if both payloads are.
@WireCodable
public enum AsyncLoad<Value, Failure: Error> {
    /// Not requested.
    case none
    /// The request is running.
    case loading
    /// The request returned this value.
    case loaded(Value)
    /// The request failed.
    case failed(Failure)

    /// Whether the request is running.
    public var isLoading: Bool {
        if case .loading = self { true } else { false }
    }

    /// The value, if it was loaded.
    public var item: Value? {
        if case .loaded(let value) = self { value } else { nil }
    }

    /// The error, if the request failed.
    public var failure: Failure? {
        if case .failed(let failure) = self { failure } else { nil }
    }
}

extension AsyncLoad: Sendable where Value: Sendable {}
extension AsyncLoad: Equatable where Value: Equatable, Failure: Equatable {}
extension AsyncLoad: Hashable where Value: Hashable, Failure: Hashable {}

/// An error that can be part of a state and be encoded: a code for programs, a message for people.
@WireCodable
@MemberwiseInit
public struct LoadError: Error, Hashable, Sendable, CustomStringConvertible {
    /// Name of the condition, such as `notFound`. An error of another type has its type's name
    /// here.
    public var code: String
    /// What failed, for people.
    public var message: String

    /// Converts any error: its type's name becomes the code, its text the message.
    public init(_ error: any Error) {
        if let known = error as? LoadError {
            self = known
        } else {
            code = "\(type(of: error))"
            message = "\(error)"
        }
    }

    public var description: String { "\(code): \(message)" }
}

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
