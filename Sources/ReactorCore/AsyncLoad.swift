/// Something that is fetched: not asked for, on its way, here, or not to be had.
///
///     var profile = AsyncLoad<Profile, LoadError>.none
///
/// Equal if the payloads are, too.
@WireCodable
public enum AsyncLoad<Value, Failure: Error> {
    /// Nobody has asked for it.
    case none
    /// It is on its way.
    case loading
    /// It is here.
    case loaded(Value)
    /// It could not be had.
    case failed(Failure)

    /// Whether it is on its way.
    public var isLoading: Bool {
        if case .loading = self { true } else { false }
    }

    /// The value, if it is here.
    public var item: Value? {
        if case .loaded(let value) = self { value } else { nil }
    }

    /// Why it could not be had, if it could not.
    public var failure: Failure? {
        if case .failed(let failure) = self { failure } else { nil }
    }
}

extension AsyncLoad: Sendable where Value: Sendable {}
extension AsyncLoad: Equatable where Value: Equatable, Failure: Equatable {}
extension AsyncLoad: Hashable where Value: Hashable, Failure: Hashable {}

/// An error that can be part of a state and travel: a code for programs, a message for people.
@WireCodable
public struct LoadError: Error, Hashable, Sendable, CustomStringConvertible {
    /// Name of the condition, such as `notFound`; of any other error, the name of its type.
    public var code: String
    /// What failed, for people.
    public var message: String

    /// Makes an error of its parts.
    public init(code: String, message: String) {
        self.code = code
        self.message = message
    }

    /// Says of any error what can be said of it elsewhere.
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
