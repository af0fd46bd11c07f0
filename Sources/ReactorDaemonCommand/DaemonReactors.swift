public import ReactorCore
public import ReactorDaemon

/// Where a daemon's reactors come from.
public enum DaemonReactors {
    /// From the daemon's code: this one stands at `/`, its children below it. A ``Group`` holds
    /// several. A configuration is optional then, and must not have `reactors:`.
    case root(any Reactor)
    /// From the configuration's `reactors:`, which this catalog makes; ``ReactorCatalog/stock`` has
    /// the ready-made kinds. A configuration is needed then.
    case configured(ReactorCatalog<any Reactor>)
}

extension DaemonReactors {
    /// What the file at `path` says; without a file, the defaults.
    ///
    /// *Throws*: every mistake in the file.
    func config(at path: String?) throws(ConfigError) -> DaemonConfig {
        guard let path else { return DaemonConfig() }
        switch self {
        case .root: return try DaemonConfig(file: path, reactors: .inCode)
        case .configured: return try DaemonConfig(file: path)
        }
    }

    /// The root of the tree.
    ///
    /// *Throws*: every unknown kind and refused option in the file.
    func root(for config: DaemonConfig) throws(ConfigError) -> any Reactor {
        switch self {
        case .root(let root): root
        case .configured(let catalog): try config.root(from: catalog)
        }
    }

    /// Whether nothing can be served without a configuration.
    var needsConfig: Bool {
        switch self {
        case .root: false
        case .configured: true
        }
    }
}
