public import ReactorCore

extension DaemonConfig {
    /// Creates the configured tree as one root reactor.
    ///
    /// *Throws*: every unknown kind and invalid option, with its place.
    public func root(
        from catalog: ReactorCatalog<any Reactor>
    ) throws(ConfigError) -> Group {
        Group(try catalog.make(reactors).map(Self.member))
    }

    private static func member(
        _ made: MadeReactor<any Reactor>
    ) -> (name: WireKey, reactor: any Reactor) {
        (WireKey(made.name), made.reactor ?? Group(made.children.map(member)))
    }
}
