/// The reason why a state was not imported.
package enum ImportError: Error, Equatable, Sendable {
    /// There is no reactor at the path, and none can be created.
    case missing(path: String)
    /// The reactor's types cannot read it.
    case unreadable(path: String, WireError)
}

extension ImportError: CustomStringConvertible {
    /// The obstacle and its place.
    package var description: String {
        switch self {
        case .missing(let path):
            "no reactor is at \(path), and no collection above it creates children by key"
        case .unreadable(let path, let error): "not a state of \(path): \(error)"
        }
    }
}
