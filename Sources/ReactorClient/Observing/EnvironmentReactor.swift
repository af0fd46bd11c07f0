public import ReactorCore

/// Mirrors by the types of their reactors, for code in the scope of ``with(_:isolation:run:)``.
///
///     try await ReactorEnvironment.with(visits, settings) {
///         try await page()        // finds them with @EnvironmentReactor
///     }
public struct ReactorEnvironment: Sendable {
    @TaskLocal static var current = ReactorEnvironment()

    private var mirrors: [Key: any Sendable] = [:]

    private struct Key: Hashable {
        var type: ObjectIdentifier
        /// `nil` for the mirror of its type that was added last.
        var path: String?
    }

    /// Runs `body` with these mirrors added to those of the enclosing scope; its tasks see them
    /// too.
    public static func with<each R: Reactor, Result>(
        _ mirrors: repeat Mirror<each R>, isolation: isolated (any Actor)? = #isolation,
        run body: () async throws -> Result
    ) async rethrows -> Result {
        var all = current
        repeat all.add(each mirrors)
        return try await $current.withValue(all, operation: body)
    }

    /// The mirror of a type that was added last, or the one at `path`.
    public static func mirror<R: Reactor>(
        of type: R.Type = R.self, at path: String? = nil
    ) -> Mirror<R>? {
        let path = path.map(ClientMachine.canonical)
        return current.mirrors[Key(type: ObjectIdentifier(R.self), path: path)] as? Mirror<R>
    }

    private mutating func add<R: Reactor>(_ mirror: Mirror<R>) {
        let type = ObjectIdentifier(R.self)
        mirrors[Key(type: type, path: nil)] = mirror
        mirrors[Key(type: type, path: mirror.path)] = mirror
    }
}

/// A mirror that the enclosing scope provides: see ``ReactorEnvironment``.
///
///     @EnvironmentReactor var visits: Mirror<Visits>
///     @EnvironmentReactor(ReactorPath(Shop.self).child(\.$visits)) var nested
///
/// *Traps*: if it is read in a scope that provides no such mirror.
@propertyWrapper
public struct EnvironmentReactor<R: Reactor>: Sendable {
    private let path: String?

    /// The mirror of the reactor's type that was provided last.
    public init() { path = nil }

    /// The mirror at a path.
    public init(at path: String) { self.path = path }

    /// The mirror of the nested reactor at a path of properties.
    public init(_ path: ReactorPath<R>) { self.path = path.path.description }

    /// The mirror that the scope of the reader provides.
    public var wrappedValue: Mirror<R> {
        guard let mirror = ReactorEnvironment.mirror(of: R.self, at: path) else {
            preconditionFailure(
                "no mirror of \(R.self)\(path.map { " at \($0)" } ?? "") is provided here: "
                    + "run this inside ReactorEnvironment.with")
        }
        return mirror
    }
}
