public import ReactorCore
public import ReactorDaemon
import StockReactors

/// The source of a daemon's reactors.
public enum DaemonReactors {
    /// From the daemon's code: the reactor at `/`, with its children below it. Use a ``ReactorGroup``
    /// for several. A configuration file is optional then, and must not have `reactors:`.
    case root(any Reactor)
    /// From the configuration's `reactors:`, created with this catalog; ``ReactorCatalog/stock``
    /// has the ready-made kinds. A configuration file is required then.
    case configured(ReactorCatalog<any Reactor>)
}

extension DaemonReactors {
    /// Reads the configuration file at `path`; without a path, returns the defaults, with the default
    /// data if the daemon `keepsData`. The default paths are those of the daemon `name`.
    ///
    /// *Throws*: every mistake in the file.
    func config(
        at path: String?, of name: String, keepsData: Bool
    ) throws(ConfigError) -> DaemonConfig {
        var config = DaemonConfig()
        if let path {
            switch self {
            case .root: config = try DaemonConfig(file: path, reactors: .inCode)
            case .configured: config = try DaemonConfig(file: path)
            }
        } else if keepsData {
            config.data = DataConfig()
        }
        config.name = name
        return config
    }

    /// Creates the root of the tree.
    ///
    /// *Throws*: every unknown kind and invalid option in the file, and every rule of access that
    /// does not fit the tree.
    func root(for config: DaemonConfig) throws(ConfigError) -> any Reactor {
        let root: any Reactor =
            switch self {
            case .root(let root): root
            case .configured(let catalog): try config.root(from: catalog)
            }
        try AccessCheck.check(config, of: root)
        return root
    }

    /// Whether a configuration file is required.
    var needsConfig: Bool {
        switch self {
        case .root: false
        case .configured: true
        }
    }
}

extension ReactorCatalog<any Reactor> {
    /// The ready-made kinds with their options; register your own kinds in addition.
    public static var stock: ReactorCatalog<any Reactor> {
        var catalog = ReactorCatalog<any Reactor>()
        for kind in StockKind.allCases {
            catalog.register(kind.rawValue) { (options) throws(ConfigProblem) in
                guard let capacity = kind.capacity else { return kind.make() }
                return kind.make(
                    capacity: try options.integer(
                        "capacity", default: capacity.fallback, in: capacity.range))
            }
        }
        return catalog
    }
}
