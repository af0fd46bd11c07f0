public import ReactorCore

/// The kinds of reactors that a daemon can create from its configuration.
///
/// *Place*: `reactord` registers the ready-made kinds, an author's daemon its own. The catalog
/// creates reactors from the ``ReactorSpec`` tree and reports every problem with its location in
/// the file. `Product` is the type that the factories return.
public struct ReactorCatalog<Product> {
    /// Creates a reactor from its options.
    public typealias Factory = (inout ReactorOptions) throws(ConfigProblem) -> Product

    private var factories: [String: Factory] = [:]

    /// Creates an empty catalog.
    public init() {}

    /// The names of all kinds, sorted.
    public var kinds: [String] { factories.keys.sorted() }

    /// Adds a kind.
    ///
    /// *Traps*: if the kind is registered already.
    public mutating func register(_ kind: String, _ factory: @escaping Factory) {
        precondition(factories[kind] == nil, "kind \(kind) is registered twice")
        factories[kind] = factory
    }

    /// Creates the reactors of the whole tree.
    ///
    /// *Throws*: every unknown kind, unknown option and invalid value, together.
    package func make(_ specs: [ReactorSpec]) throws(ConfigError) -> [MadeReactor<Product>] {
        var problems: [ConfigProblem] = []
        let made = specs.map { make($0, problems: &problems) }
        guard problems.isEmpty else { throw ConfigError(problems) }
        return made
    }

    private func make(
        _ spec: ReactorSpec, problems: inout [ConfigProblem]
    ) -> MadeReactor<Product> {
        var product: Product?
        if let kind = spec.kind {
            do throws(ConfigProblem) {
                product = try make(kind, spec, problems: &problems)
            } catch {
                problems.append(error)
            }
        }
        return MadeReactor(
            name: spec.name, reactor: product,
            children: spec.children.map { make($0, problems: &problems) })
    }

    private func make(
        _ kind: String, _ spec: ReactorSpec, problems: inout [ConfigProblem]
    ) throws(ConfigProblem) -> Product {
        guard let factory = factories[kind] else {
            throw .unknown("kind", kind, known: kinds, key: "\(spec.key).kind", at: spec.kindMark)
        }
        var options = ReactorOptions(spec)
        let product = try factory(&options)
        problems += options.unread()
        return product
    }
}

/// A node of the tree that a ``ReactorCatalog`` created.
package struct MadeReactor<Product> {
    /// Its name among its siblings.
    package let name: String
    /// Nil for a group.
    package let reactor: Product?
    /// In the order of the file.
    package let children: [MadeReactor<Product>]
}

extension MadeReactor: Sendable where Product: Sendable {}

extension DaemonConfig {
    /// Creates the configured tree as one root reactor.
    ///
    /// *Throws*: every unknown kind and invalid option, with its place.
    public func root(
        from catalog: ReactorCatalog<any Reactor>
    ) throws(ConfigError) -> ReactorGroup {
        ReactorGroup(try catalog.make(reactors).map(Self.member))
    }

    private static func member(
        _ made: MadeReactor<any Reactor>
    ) -> (name: WireKey, reactor: any Reactor) {
        (WireKey(made.name), made.reactor ?? ReactorGroup(made.children.map(member)))
    }
}
